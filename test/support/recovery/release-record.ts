// A release as its commands leave it.
import { RELEASE_FORMAT, type ReleaseRecord, type ReleaseState } from '../../../shared/recovery/release-record.ts';

const MINUTE_MS = 60_000;

/** Its steps lie a minute apart. */
export function releaseRecord({
  name = 'r1',
  steps,
  begunAt,
  ...more
}: { readonly steps: readonly ReleaseState[]; readonly begunAt: number } & Partial<
  Omit<ReleaseRecord, 'steps'>
>): ReleaseRecord {
  return {
    format: RELEASE_FORMAT,
    name,
    source: { kind: 'folder', value: '/home/somebody/shop-next' },
    state: steps.at(-1) ?? 'begun',
    steps: steps.map((state, index) => ({
      state,
      at: new Date(begunAt + index * MINUTE_MS).toISOString(),
      actor: 'cli:somebody',
    })),
    before: { commit: null, lockfile: null, configVersion: null, svc: null, schema: null },
    after: null,
    restorePoint: 'c1',
    owner: 'daemon',
    tree: null,
    wasPaused: false,
    results: {},
    windowUntil: null,
    verdict: null,
    ...more,
  };
}
