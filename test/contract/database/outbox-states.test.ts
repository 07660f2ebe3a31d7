// What the statements of the outbox leave of a send, in each state that they take one in, or their refusal. What has ended has its time, and nothing
// else has: `isOpen` asks for that alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { OutboxState } from '../../../worker/database/tables.ts';
import type { Statement } from '../../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { dropSend, holdSend, replaySend } from '../../../worker/outbox/operator-store.ts';
import {
  claimNextSend,
  claimSend,
  endSend,
  finishSend,
  postponeSend,
  prepareSend,
} from '../../../worker/outbox/outbox-store.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const ID = 'send';
const SEEN = { id: ID, operator_changes: 0 };
const END = { id: ID, at: 2, code: 'send_failed', error: 'bad', attempts: 1 };
const OPEN: readonly OutboxState[] = ['pending', 'sending', 'waiting'];
const STUCK: readonly OutboxState[] = ['dead', 'unknown'];
const STATES: readonly OutboxState[] = [...OPEN, ...STUCK, 'sent'];

interface Case {
  readonly what: string;
  readonly change: Statement;
  readonly from: readonly OutboxState[];
  readonly to: OutboxState;
}

const CASES: readonly Case[] = [
  { what: 'claimed', change: claimSend({ id: ID }), from: OPEN, to: 'sending' },
  { what: 'claimed as the next', change: claimNextSend({ id: ID }), from: OPEN, to: 'sending' },
  { what: 'sent', change: finishSend({ id: ID, message: 'm', at: 2, attempts: 1 }), from: OPEN, to: 'sent' },
  {
    what: 'put off',
    change: postponeSend({ id: ID, nextAt: 9, error: 'later', attempts: 1, failures: 1 }),
    from: OPEN,
    to: 'waiting',
  },
  { what: 'dead', change: endSend({ ...END, state: 'dead' }), from: OPEN, to: 'dead' },
  { what: 'unknown', change: endSend({ ...END, state: 'unknown' }), from: OPEN, to: 'unknown' },
  { what: 'replayed', change: replaySend(SEEN, 'again', 2), from: STUCK, to: 'pending' },
  { what: 'said to be sent', change: replaySend(SEEN, 'done', 2), from: STUCK, to: 'sent' },
  { what: 'held', change: holdSend({ ...SEEN, state: 'pending' }, 2, 'why'), from: ['pending', 'waiting'], to: 'dead' },
  {
    what: 'held under way',
    change: holdSend({ ...SEEN, state: 'sending' }, 2, 'why'),
    from: ['sending'],
    to: 'unknown',
  },
  { what: 'dropped', change: dropSend(SEEN, 2, 'why'), from: [...OPEN, ...STUCK], to: 'dead' },
];

/** A send in this state, come there by the statements themselves. */
const WAYS: Readonly<Record<OutboxState, readonly Statement[]>> = {
  pending: [],
  sending: [claimSend({ id: ID })],
  waiting: [postponeSend({ id: ID, nextAt: 9, error: 'later', attempts: 1, failures: 1 })],
  unknown: [endSend({ ...END, state: 'unknown' })],
  dead: [endSend({ ...END, state: 'dead' })],
  sent: [finishSend({ id: ID, message: 'm', at: 1, attempts: 1 })],
};

interface Row {
  readonly state: OutboxState;
  readonly hasEnded: 0 | 1;
}

function newSend(refused: string | null): Statement {
  return prepareSend({
    id: ID,
    key: 'k',
    endpoint: 'root/sandbox:main',
    conversation: 'c',
    call: { kind: 'post', text: 'hello', buttons: [], files: [] },
    unsure: 'again',
    itemId: null,
    createdAt: 1,
    actor: null,
    correlationId: null,
    refused,
    isClaimed: false,
  }).insert;
}

function outboxWith(t: Cleanup) {
  const core = new WriterCore({ file: ':memory:', now: Date.now });
  const writer = new GroupingWriter(inlineRunner(core));
  t.after(() => void core.close());
  return {
    commit: async (...statements: readonly Statement[]) => (await writer.commit({ name: 'test', statements })).kind,
    row: () => core.open().prepare<[], Row>('SELECT state, done_at IS NOT NULL AS hasEnded FROM outbox').get(),
  };
}

const rowOf = (state: OutboxState): Row => ({ state, hasEnded: OPEN.includes(state) ? 0 : 1 });

describe('the statements of the outbox', () => {
  for (const state of STATES)
    it(`take a send that is ${state} where they may, and leave it open or ended`, async (t) => {
      for (const { what, change, from, to } of CASES) {
        const outbox = outboxWith(t);
        assert.equal(await outbox.commit(newSend(null), ...WAYS[state]), 'committed');
        assert.deepEqual(outbox.row(), rowOf(state));

        const answer = await outbox.commit(change);

        assert.deepEqual([what, answer], [what, from.includes(state) ? 'committed' : 'refused']);
        assert.deepEqual({ what, ...outbox.row() }, { what, ...rowOf(from.includes(state) ? to : state) });
      }
    });

  it('store one that cannot go out as ended', async (t) => {
    const outbox = outboxWith(t);

    await outbox.commit(newSend('the text is too long'));

    assert.deepEqual(outbox.row(), rowOf('dead'));
  });
});
