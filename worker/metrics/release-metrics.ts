// Metrics of releases, read from the newest record at each scrape. A verdict is of an open release: it is 0 once the release has ended.
import { Gauge, type Registry } from 'prom-client';
import { sharedRead } from './shared-read.ts';

export interface ReleaseFigures {
  /** Of the newest release. */
  readonly state: string;
  /** Of the open one. */
  readonly verdict: string | undefined;
}

const STATES = ['begun', 'checked', 'started', 'accepted', 'observing', 'finished', 'rolled_back'];
const VERDICTS = ['good', 'bad', 'unclear'];

/** `read`: undefined before the first release. */
export function releaseMetrics(registry: Registry, read: () => Promise<ReleaseFigures | undefined>): void {
  const registers = [registry];
  const figures = sharedRead(read);
  new Gauge({
    name: 'svc_release_state',
    help: '1 for the state of the newest release.',
    labelNames: ['state'],
    registers,
    async collect() {
      const present = (await figures(this))?.state;
      for (const state of STATES) this.set({ state }, Number(state === present));
    },
  });
  new Gauge({
    name: 'svc_release_verdict',
    help: '1 for the verdict on the open release.',
    labelNames: ['verdict'],
    registers,
    async collect() {
      const present = (await figures(this))?.verdict;
      for (const verdict of VERDICTS) this.set({ verdict }, Number(verdict === present));
    },
  });
}
