// A pause of ingress holds the deadlines of the Workroom: their events would begin what plugins do about them.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createIngressApi } from '../../../worker/host/ingress.ts';
import { type JobsHost, jobsHost } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;
const CALLER = { actor: 'token:full', scope: 'full', requestId: '' } as const;

async function command({ workroom }: JobsHost, given: unknown): Promise<void> {
  await workroom.api?.command(CALLER, given, { key: undefined, ifVersion: undefined, keep: () => [] });
}

/** One item that is due in a minute, and one in two. */
async function withDeadlines(t: TestContext): Promise<JobsHost> {
  const made = await jobsHost(t, { config: { host: { name: 'team', kind: 'workroom' } } });
  made.workroom.start();
  await command(made, { kind: 'board.add', board: 'web', name: 'Web site' });
  for (const minutes of [1, 2]) {
    await command(made, { kind: 'new', board: 'web', title: `Item ${minutes}` });
    await command(made, { kind: 'due', item: `web-${minutes}`, due: made.host.clock.now() + minutes * MINUTE });
  }
  return made;
}

const overdue = ({ host }: JobsHost): readonly string[] =>
  host
    .rows<{ stream: string }>("SELECT stream FROM workroom_events WHERE kind = 'item.overdue' ORDER BY seq")
    .map(({ stream }) => stream);
const head = ({ host }: JobsHost) => host.rows<{ seq: number }>('SELECT seq FROM workroom_head')[0]?.seq;

describe('a pause of ingress', () => {
  for (const mode of ['park', 'reject'] as const)
    it(`holds deadlines of items in mode ${mode}, over a restart, and its end announces each once`, async (t) => {
      const first = await withDeadlines(t);
      await first.host.engine.gate.set({ state: 'paused', mode }, 'op');
      const before = head(first);
      await first.host.advance(3 * MINUTE);
      const whilePaused = [overdue(first), head(first)];
      const next = await first.restart();
      next.workroom.start();
      await next.host.advance(MINUTE);
      const afterStart = [overdue(next), head(next)];
      const { tasks } = await createIngressApi(next.host.engine, next.jobs).preview();
      await next.host.engine.gate.set({ state: 'open' }, 'op');
      await next.host.advance(MINUTE);

      assert.deepEqual(
        [whilePaused, afterStart],
        [
          [[], before],
          [[], before],
        ],
      );
      assert.deepEqual(
        tasks.map(({ handler, kind, count }) => [handler, kind, count]),
        [['workroom', 'deadline', 2]],
      );
      assert.deepEqual(overdue(next), ['item/web-1', 'item/web-2']);
    });

  it('announces nothing of an item that ended before the pause did', async (t) => {
    const made = await withDeadlines(t);
    await made.host.engine.gate.set({ state: 'paused', mode: 'park' }, 'op');
    await made.host.advance(3 * MINUTE);
    await command(made, { kind: 'cancel', item: 'web-1' });
    await made.host.engine.gate.set({ state: 'open' }, 'op');
    await made.host.advance(MINUTE);

    assert.deepEqual(overdue(made), ['item/web-2']);
  });
});
