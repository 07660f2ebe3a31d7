// A release of real git, npm and a daemon: how long nothing serves, from the stop of the old version until the new one is ready. Beside a plain stop and
// start of the same host.
import { listReleases } from '../../shared/recovery/release-record.ts';
import { plugin, type ReleasedProject, releasedProject } from '../support/process/released-project.ts';
import type { Report } from './load/report.ts';

const GOAL_MS = 5_000;

export async function benchRelease(report: Report): Promise<void> {
  const ends: (() => void | Promise<void>)[] = [];
  try {
    const shop = await releasedProject({ after: (end) => void ends.push(end) }, { b: plugin('B'), breaksSchema: true });
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '60');
    const startedAt = performance.now();
    await done(shop, 'runtime', 'stop');
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '60');
    const plainMs = performance.now() - startedAt;
    await done(shop, 'release', 'check', '--to', shop.commits.b);
    const pausedAt = performance.now();
    await done(shop, 'release', 'begin', '--to', shop.commits.b);
    await done(shop, 'release', 'check');
    await done(shop, 'release', 'start');
    await done(shop, 'release', 'accept', '--reason', 'a figure');
    await done(shop, 'release', 'observe');
    const pausedMs = performance.now() - pausedAt;
    const ms = listReleases(shop.project.path).at(-1)?.results['start']?.ms ?? Number.NaN;
    report.add({
      name: 'release: stop to ready, with a migration',
      value: ms,
      unit: 'ms',
      baseline: { name: 'a stop and a start', value: plainMs },
      ratio: ms / plainMs,
      goal: { text: '<= 5 s', met: ms <= GOAL_MS },
    });
    report.add({ name: '  ingress paused, from begin to observe', value: pausedMs, unit: 'ms' });
    await done(shop, 'runtime', 'stop');
  } finally {
    for (const end of ends) await end();
  }
}

async function done(of: ReleasedProject, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await of.svc(...args);
  if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${stdout}${stderr}`);
}
