// Each fault that the oracle is there for, in a record made by hand: what is judged to be well is worth something then.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Books, type Evidence, judge, rowOf } from './kit/judge.ts';
import { Ledger } from './kit/ledger.ts';
import type { Delivered, Repeats } from './kit/platform.ts';

interface Case {
  readonly repeats?: Repeats;
  readonly kills?: number;
  readonly books?: Books;
  /** By token: how it was delivered, and what the bot said to it in which life. */
  readonly lines: Readonly<
    Record<string, readonly [Delivered, ...(readonly [number: number, life: number, at?: number])[]]>
  >;
  /** When lives were ended; answers without a time of their own came then. */
  readonly ends?: Readonly<Record<number, number>>;
}

function evidenceOf({ repeats = 'none', kills = 5, books, lines, ends = {} }: Case): Evidence {
  const open = (): never => assert.fail('nothing is opened');
  const ledger = new Ledger({ name: 'p', repeats, mostOwed: 1, conversations: 1, open });
  for (const [life, at] of Object.entries(ends)) ledger.ends.set(Number(life), at);
  for (const [token, [fate, ...answers]] of Object.entries(lines)) {
    ledger.end(ledger.say({ token, text: token, conversation: 1 }, 1), fate, 1);
    for (const [number, life, at = ends[life] ?? 0] of answers) {
      const before = ledger.answersEver;
      ledger.read((from) => (from === before ? [`${token} n${number}`] : []), life, at);
    }
  }
  const handled = Object.values(lines).filter((line) => line.length > 1).length;
  return { ledger, kills, books: books ?? { items: { done: handled }, sends: { sent: handled } } };
}

const faultsOf = (of: Case): string => judge(evidenceOf(of)).join('\n');
const good = { T1X: ['acknowledged', [1, 1]], T2X: ['acknowledged', [2, 1]] } as const;

describe('the oracle of the kill test of the platforms', () => {
  it('has nothing against a run that kept every promise', () => {
    assert.equal(faultsOf({ lines: good }), '');
    assert.equal(faultsOf({ lines: { ...good, T3X: ['written'] } }), '', 'what was only written may be lost');
  });

  it('sees an acknowledged line without an answer', () => {
    assert.match(faultsOf({ lines: { T1X: ['acknowledged'] } }), /T1X was acknowledged and never answered/);
  });

  it('sees a line that was handled twice, and two that were handled as one', () => {
    assert.match(faultsOf({ lines: { T1X: ['acknowledged', [1, 1], [2, 2]] } }), /T1X was handled 2 times: as 1, 2/);
    const same = { T1X: ['acknowledged', [1, 1]], T2X: ['acknowledged', [1, 2]] } as const;
    assert.match(faultsOf({ lines: same }), /T1X and T2X were both handled as number 1/);
  });

  it('sees a hole in the numbers, and a wrong order', () => {
    const hole = { T1X: ['acknowledged', [1, 1]], T2X: ['acknowledged', [3, 1]] } as const;
    assert.match(faultsOf({ lines: hole }), /lacks the answers with numbers 2/);
    const turned = { T1X: ['acknowledged', [2, 1]], T2X: ['acknowledged', [1, 1]] } as const;
    assert.match(faultsOf({ lines: turned }), /T2X was handled before T1X/);
  });

  it('takes answers that show again only without a key, once a life, and one of a conversation at a kill', () => {
    const again = { T1X: ['acknowledged', [1, 1], [1, 2]] } as const;
    assert.equal(faultsOf({ lines: again }), '');
    assert.match(faultsOf({ lines: again, repeats: 'key' }), /shows 2 times, in lives 1, 2/);
    assert.match(faultsOf({ lines: again, repeats: 'search' }), /shows 2 times, in lives 1, 2/);
    const both = { ...again, T2X: ['acknowledged', [2, 1], [2, 2]] } as const;
    assert.match(faultsOf({ lines: both }), /two answers show again in conversation 1 at the end of life 1/);
    assert.match(faultsOf({ lines: { T1X: ['acknowledged', [1, 2], [1, 2]] } }), /shows twice in one life: 2, 2/);
  });

  it('counts them by the kill that made them show again', () => {
    const again = { T1X: ['acknowledged', [1, 1], [1, 2]], T2X: ['acknowledged', [2, 1], [2, 2], [2, 3]] } as const;
    const { doubled, mostAtOneKill } = rowOf(evidenceOf({ lines: again }));
    assert.deepEqual([doubled, mostAtOneKill], [3, 2]);
    assert.match(faultsOf({ lines: again }), /2 answers of the account show again at the end of life 1/);
  });

  it('counts calls apart that were under way for too long when the kill came', () => {
    const lines = {
      T1X: ['acknowledged', [1, 1, 7_000], [1, 2]],
      T2X: ['acknowledged', [2, 1, 9_500], [2, 2]],
    } as const;
    const ends = { 1: 10_000 };
    const { doubled, slow, mostAtOneKill } = rowOf(evidenceOf({ lines, ends }));

    assert.deepEqual([doubled, slow, mostAtOneKill], [2, 1, 1]);
    assert.doesNotMatch(faultsOf({ lines, ends }), /of the account show again/);
  });

  it('sees what is open or dead in the books of the host, and what was handled without a trace', () => {
    const left = { items: { done: 2, waiting: 1 }, sends: { sent: 1, dead: 1 } };
    assert.match(
      faultsOf({ lines: good, books: left }),
      /1 items are waiting\n.*1 sends are dead\n.*1 sends are sent for 2/,
    );
    const more = { items: { done: 3 }, sends: { sent: 3 } };
    assert.match(faultsOf({ lines: good, books: more }), /3 items are done, 2 of 2 lines are answered/);
  });

  it('sees an answer to nothing', () => {
    const { ledger, ...rest } = evidenceOf({ lines: good });
    ledger.read((from) => ['T9X n1'].slice(from - 2), 1);
    assert.match(judge({ ledger, ...rest }).join('\n'), /"T9X n1" answers nothing/);
  });
});
