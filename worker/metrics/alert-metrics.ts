// How many alerts the host itself finds firing, as of its last look. Absent before the first one, half a minute after the start.
import { Gauge, type Registry } from 'prom-client';

export type FiringCounts = Readonly<Record<'critical' | 'warning', number>>;

export function alertMetrics(registry: Registry, read: () => FiringCounts | undefined): void {
  new Gauge({
    name: 'svc_alerts_firing',
    help: 'Alerts of the host that fire, by severity; silenced ones are among them.',
    labelNames: ['severity'],
    registers: [registry],
    collect() {
      const firing = read();
      this.reset();
      for (const [severity, count] of Object.entries(firing ?? {})) this.set({ severity }, count);
    },
  });
}
