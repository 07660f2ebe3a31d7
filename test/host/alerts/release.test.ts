// A whole host during a release: what the steps cause is silenced by the record of the release, and again told once that is over.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ReleaseState } from '../../../shared/recovery/release-record.ts';
import { writeRelease } from '../../../shared/recovery/release-record.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

interface Seen {
  readonly at: string | null;
  readonly firing: number;
  readonly alerts: readonly { readonly name: string; readonly state: string; readonly silenced: boolean }[];
}

/** A host whose ingress is paused, as it is after the first look that finds that. */
async function seen(t: TestContext, steps: readonly ReleaseState[]): Promise<Seen> {
  const alerts = { rules: { SvcPausedLong: { for: '0s' }, SvcCrashed: { enabled: false } } };
  const project = temporaryProject(t, { config: { http: HTTP, plugins: { sandbox: {} }, alerts } });
  const previous = { end: 'crashed', code: null, signal: 'SIGKILL', detail: null } as const; // it looks at once
  const host = await running(t, { project, previous });
  writeRelease(project.path, releaseRecord({ steps, begunAt: Date.now() }));
  const paused = await host.call('PUT', '/api/system/ingress', { state: 'paused', reason: 'a release' });
  assert.equal(paused.status, 200, paused.text);
  return until(
    async () => {
      const { json } = await host.call('GET', '/api/alerts');
      const seen = json as unknown as Seen;
      return seen.alerts.some(({ name }) => name === 'SvcPausedLong') && seen;
    },
    { what: 'a look that finds the pause', everyMs: 50 },
  );
}

describe('a release under way', () => {
  it('silences what its steps cause', async (t) => {
    const { firing, alerts } = await seen(t, ['begun']);
    assert.deepEqual(
      [firing, alerts.map(({ name, state, silenced }) => [name, state, silenced])],
      [0, [['SvcPausedLong', 'firing', true]]],
    );
  });

  it('does so no longer once ingress should be open again', async (t) => {
    const { firing, alerts } = await seen(t, ['begun', 'checked', 'started', 'accepted', 'observing']);
    assert.deepEqual([firing, alerts[0]?.name, alerts[0]?.silenced], [1, 'SvcPausedLong', false]);
  });
});
