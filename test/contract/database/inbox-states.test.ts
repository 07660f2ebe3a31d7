// The guards of the inbox's statements against the table of its machine: in each state each event does what the table says, or nothing. What
// has ended has its time, and nothing else has: `isOpen` asks for that alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { InboxState } from '../../../worker/database/tables.ts';
import type { Statement } from '../../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { type InboxEvent, stepItem } from '../../../worker/inbox/inbox-machine.ts';
import {
  buryItem,
  claimItem,
  claimNextItem,
  finishItem,
  holdItem,
  postponeItem,
  receiveItem,
} from '../../../worker/inbox/inbox-store.ts';
import { claimLeftItem, letGoItems, setAsideItem } from '../../../worker/inbox/left-items-store.ts';
import { dropItem, keepFromHandlers, replayItem } from '../../../worker/inbox/operator-store.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const ID = 'item';
const STATES: readonly InboxState[] = ['received', 'handling', 'waiting', 'done', 'dead'];

const ENDED: readonly InboxState[] = ['done', 'dead'];

/** The unit of each event, as the services write it. */
const UNITS: readonly (readonly [InboxEvent, (state: InboxState) => readonly Statement[]])[] = [
  ['claimed', () => [claimItem({ id: ID })]],
  ['claimed', () => [claimNextItem({ id: ID })]],
  ['claimed', () => [claimLeftItem({ id: ID })]],
  ['set_aside', () => [setAsideItem({ id: ID, nextAt: 9, error: 'deaths' })]],
  ['handled', () => [holdItem({ id: ID }), finishItem({ id: ID, at: 2 })]],
  ['passed', () => [finishItem({ id: ID, at: 2 })]],
  ['postponed', () => [postponeItem({ id: ID, nextAt: 9, error: 'later' })]],
  ['buried', () => [buryItem({ id: ID, at: 2, code: 'handler_failed', handler: 'h', error: 'bad' })]],
  ['replayed', () => replayItem({ id: ID, operator_changes: 0 })],
  ['held', () => [keepFromHandlers({ id: ID, operator_changes: 0 }, 2, 'held')]],
  ['dropped', (state) => [dropItem({ id: ID, operator_changes: 0, state }, 2, 'dropped')]],
];

interface Row {
  readonly state: InboxState;
  readonly hasEnded: 0 | 1;
}

function inboxWith(t: Cleanup, state: InboxState) {
  const core = new WriterCore({ file: ':memory:', now: Date.now });
  const writer = new GroupingWriter(inlineRunner(core));
  t.after(() => void core.close());
  const item = receiveItem({
    id: ID,
    endpoint: 'root/sandbox:main',
    delivery_id: 'd1',
    weak: 0,
    kind: 'arrival',
    lane: 'l',
    capability: null,
    payload_version: 1,
    body: '{}',
    sha256: '',
    bytes: 2,
    received_at: 1,
    state,
    attempts: 1,
    next_at: null,
    done_at: ENDED.includes(state) ? 1 : null,
    last_error: null,
    actor: null,
    correlation_id: null,
    causation_id: null,
    operator_changes: 0,
    deaths: 0,
    code: null,
    failed_handler: null,
  });
  const commit = async (statements: readonly Statement[]): Promise<'committed' | 'refused'> =>
    (await writer.commit({ name: 'test', statements })).kind;
  return {
    stored: commit([item]),
    commit,
    row: () => core.open().prepare<[], Row>('SELECT state, done_at IS NOT NULL AS hasEnded FROM inbox').get(),
  };
}

describe('the statements of the inbox', () => {
  for (const state of STATES)
    it(`let go of what a stop has cut, and of nothing else: ${state}`, async (t) => {
      const inbox = inboxWith(t, state);
      await inbox.stored;

      await inbox.commit([letGoItems()]);

      const after = stepItem(state, 'cut') ?? state;
      assert.deepEqual(inbox.row(), { state: after, hasEnded: Number(ENDED.includes(after)) });
    });

  for (const state of STATES)
    it(`do in ${state} what the machine says (INBOX-MACHINE-1)`, async (t) => {
      for (const [event, unit] of UNITS) {
        const next = stepItem(state, event);
        const inbox = inboxWith(t, state);
        await inbox.stored;

        const answer = await inbox.commit(unit(state));

        assert.deepEqual([event, answer], [event, next === undefined ? 'refused' : 'committed']);
        const after = next ?? state;
        assert.deepEqual({ event, ...inbox.row() }, { event, state: after, hasEnded: Number(ENDED.includes(after)) });
      }
    });
});
