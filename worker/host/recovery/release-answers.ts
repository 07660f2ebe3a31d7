// Releases as `/api/releases` shows them. Demo scope sees no actor, no signal, no detail of a result and no folder.
import type { Release } from '../../../shared/api/recovery/release.ts';
import { commandAfter } from '../../../shared/recovery/release-machine.ts';
import type { StoredRelease } from '../../../shared/recovery/release-record.ts';
import type { LastVerdict } from '../../recovery/release/watch-releases.ts';

/** `last`: the verdict of the last minute, which is younger than the stored one where only its signal has changed. */
export function shownRelease(
  { name, record, fault }: StoredRelease,
  last: LastVerdict | undefined,
  texts: boolean,
): Release {
  const isWatched = last?.release === name && record?.state === 'observing';
  const verdict = isWatched ? last : (record?.verdict ?? null);
  const command = record === undefined ? undefined : commandAfter(record.state);
  return {
    name,
    state: record?.state ?? null,
    since: record?.steps.at(-1)?.at ?? null,
    restorePoint: record?.restorePoint ?? null,
    windowUntil: record?.windowUntil ?? null,
    verdict: verdict && { verdict: verdict.verdict, at: verdict.at, ...(texts ? { signal: verdict.signal } : {}) },
    next: command === undefined ? null : `svc release ${command}`,
    fault: fault === undefined ? null : texts ? fault : 'damaged',
  };
}

export function recordFor({ record }: StoredRelease, texts: boolean): Pick<Release, 'record'> {
  if (record === undefined) return {};
  const { verdict: _shown, steps, results, source, rollback, ...rest } = record;
  const taken = rollback === undefined ? {} : { rollback };
  if (texts) return { record: { ...rest, source, steps, results, ...taken } };
  return {
    record: {
      ...rest,
      source: source.kind === 'commit' ? source : { kind: source.kind },
      steps: steps.map(({ state, at }) => ({ state, at })),
      results: Object.fromEntries(Object.entries(results).map(([name, { ok, ms }]) => [name, { ok, ms }])),
    },
  };
}
