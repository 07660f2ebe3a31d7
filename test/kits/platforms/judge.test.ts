// Each fault that the oracle is there for, in a record made by hand: what is judged to be well is worth something then.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Extra, type Shown, WORDS } from './kit/extras.ts';
import { type Books, type Evidence, judge, rowOf } from './kit/judge.ts';
import { Ledger } from './kit/ledger.ts';
import type { Delivered, Repeats } from './kit/platform.ts';

/** A further message of the bot: in life 1, or in that one. */
type MoreOf = string | readonly [text: string, life: number];

interface Case {
  readonly repeats?: Repeats;
  readonly filesRepeat?: true;
  readonly filesApart?: true;
  readonly kills?: number;
  readonly books?: Books;
  /** By token: how it was delivered, and what the bot said to it in which life. */
  readonly lines: Readonly<Record<string, readonly [Delivered, ...(readonly [number: number, life: number])[]]>>;
  /** By token: what its line asked for, what came of it beside the answer, and what people see of it in the end. */
  readonly extras?: Readonly<
    Record<string, { readonly extra: Extra; readonly more?: readonly MoreOf[]; readonly shown?: readonly Shown[] }>
  >;
  /** By token: another conversation than 1. */
  readonly conversations?: Readonly<Record<string, number>>;
}

function evidenceOf({ repeats = 'none', kills = 5, books, lines, extras = {}, ...of }: Case): Evidence {
  const open = (): never => assert.fail('nothing is opened');
  const { filesRepeat, filesApart, conversations = {} } = of;
  const files = {
    ...(filesRepeat === undefined ? {} : { filesRepeat }),
    ...(filesApart === undefined ? {} : { filesApart }),
  };
  const ledger = new Ledger({ name: 'p', repeats, mostOwed: 1, conversations: 1, open, ...files });
  for (const [token, [fate, ...answers]] of Object.entries(lines)) {
    const conversation = conversations[token] ?? 1;
    ledger.end(ledger.say({ token, text: token, conversation, extra: extras[token]?.extra }, 1), fate, 1);
    for (const [number, life] of answers) {
      const before = ledger.answersEver;
      ledger.read((from) => (from === before ? [`${token} n${number}`] : []), life);
    }
  }
  for (const [token, { extra, more = [] }] of Object.entries(extras)) {
    const said = ledger.lines.get(token);
    if (said !== undefined && extra === 'button') said.press = 'acknowledged';
    for (const one of more) {
      const [text, life] = typeof one === 'string' ? [one, 1] : one;
      const before = ledger.answersEver;
      ledger.read((from) => [text].slice(from - before), life);
    }
  }
  const handled = Object.values(lines).filter((line) => line.length > 1).length;
  const shown = Object.values(extras).flatMap((one) => one.shown ?? []);
  return { ledger, kills, shown, books: books ?? { items: { done: handled }, sends: { sent: handled } } };
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
    assert.match(faultsOf({ lines: both }), /two sends show again in conversation 1 at the end of life 1/);
    assert.match(faultsOf({ lines: { T1X: ['acknowledged', [1, 2], [1, 2]] } }), /shows twice in one life: 2, 2/);
  });

  it('counts them by the kill that made them show again', () => {
    const again = { T1X: ['acknowledged', [1, 1], [1, 2]], T2X: ['acknowledged', [2, 1], [2, 2], [2, 3]] } as const;
    const conversations = { T2X: 2 };
    const row = rowOf(evidenceOf({ lines: again, conversations }));
    assert.deepEqual([row.again, row.byKills, row.mostAtOneKill], [3, 2, 2]);
    assert.match(
      faultsOf({ lines: again, conversations }),
      /2 sends of the account show again at the end of life 1, where one may/,
    );
  });

  it('counts parts, files and what is said to presses as it counts answers, and a post with its file as one', () => {
    const again = (extra: Extra, more: readonly MoreOf[], life = 2): Case => ({
      lines: { T1X: ['acknowledged', [1, 1], ...(extra === 'file' ? ([[1, life]] as const) : [])] },
      extras: { T1X: { extra, more } },
    });
    const parts = again('split', [
      ['T1Xw9 T1Xw10', 1],
      ['T1Xw9 T1Xw10', 2],
      ['T1Xw11', 1],
      ['T1Xw11', 3],
    ]);
    const press = again('button', [
      ['T1Xpressed1', 1],
      ['T1Xpressed1', 2],
      ['T1Xpressed1', 3],
    ]);
    const file = again('file', [
      ['T1Xfile', 1],
      ['T1Xfile', 2],
    ]);
    const count = (of: Case): readonly number[] => {
      const { again: all, byKills, mostAtOneKill } = rowOf(evidenceOf(of));
      return [all, byKills, mostAtOneKill];
    };

    assert.deepEqual(
      [count(parts), count(press), count(file)],
      [
        [2, 1, 2],
        [2, 2, 1],
        [1, 1, 1],
      ],
    );
    assert.match(faultsOf(parts), /two sends show again in conversation 1 at the end of life 1/);
    assert.match(faultsOf({ ...press, repeats: 'key' }), /what is said of T1X in "T1Xpressed1" shows 3 times/);
    assert.match(faultsOf({ ...file, repeats: 'search' }), /the answer to T1X shows 2 times/);
    assert.doesNotMatch(faultsOf({ ...file, repeats: 'search', filesRepeat: true }), /shows 2 times/);
    assert.match(
      faultsOf(
        again('split', [
          ['T1Xw9', 2],
          ['T1Xw9', 2],
        ]),
      ),
      /"T1Xw9" shows twice in one life: 2, 2/,
    );
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

  it('sees an edit that did not stay, and an edited message that shows twice though there is a key', () => {
    const [first, once, twice] = ['T1X n1', 'T1X n1 once', 'T1X n1 twice'].map((text) => ({ text }));
    const of = (repeats: Repeats, ...shown: readonly (Shown | undefined)[]): string =>
      extraFaults(repeats, { extra: 'edited', shown: shown.flatMap((one) => one ?? []) });

    assert.deepEqual([of('key', twice), of('none', twice), of('none', once, twice)], ['', '', '']);
    assert.match(of('key', once), /edited: the last edit does not show: "T1X n1 once"/);
    assert.match(of('none', twice, once), /the last edit does not show/);
    assert.match(of('key'), /the last edit does not show: ""/);
    assert.match(of('search', first, twice), /edited: it shows 2 times/);
  });

  it('sees parts that are missing, turned or shown again', () => {
    const cuts = [0, 300, 600, WORDS];
    const [first = '', second = '', third = ''] = [0, 1, 2].map((part) =>
      Array.from(
        { length: (cuts[part + 1] ?? 0) - (cuts[part] ?? 0) },
        (_, n) => `T1Xw${(cuts[part] ?? 0) + n + 1}`,
      ).join(' '),
    );
    const of = (repeats: Repeats, ...texts: readonly string[]): string =>
      extraFaults(repeats, {
        extra: 'split',
        shown: texts.map((text, n) => ({ text: n === 0 ? `T1X n1 ${text}` : text })),
      });

    assert.equal(of('key', first, second, third), '');
    assert.equal(of('none', first, second, second, third), '');
    assert.match(of('key', first, second, second, third), /split: 4 parts show 1200 words; the 601th is 301/);
    assert.match(of('none', first, second, third, second), /the 901th is 301/);
    assert.match(of('key', first, third), /split: 2 parts show 600 words; the 301th is 601/);
    assert.match(of('none', first, third, second), /the 301th is 601/);
    assert.match(of('key', first, second), /the 601th is missing/);
  });

  it('sees a file that is missing, of another content, or shown again', () => {
    const of = (repeats: Repeats, ...files: readonly string[]): string =>
      extraFaults(repeats, { extra: 'file', shown: [{ text: 'T1X n1', files }] });

    assert.deepEqual([of('key', 'T1X'), of('none', 'T1X', 'T1X')], ['', '']);
    assert.match(of('key'), /file: its file does not show/);
    assert.match(of('key', 'T1X', 'T'), /file: its file holds "T1X", "T"/);
    assert.match(of('search', 'T1X', 'T1X'), /file: its file shows 2 times/);
  });

  it('sees a press that was handled twice, shown twice or never answered', () => {
    const of = (repeats: Repeats, ...more: readonly MoreOf[]): string =>
      extraFaults(repeats, { extra: 'button', more });

    assert.deepEqual([of('key', 'T1Xpressed1'), of('none', 'T1Xpressed1', ['T1Xpressed1', 2])], ['', '']);
    assert.match(of('none', 'T1Xpressed1', 'T1Xpressed2'), /button: its press was handled 1, 2 times/);
    assert.match(of('key', 'T1Xpressed1', 'T1Xpressed1'), /button: what was said to its press shows 2 times/);
    assert.match(of('key'), /button: its press was acknowledged and never answered/);
  });

  it('sees a reaction that is not there', () => {
    const of = (...reactions: readonly string[]): string =>
      extraFaults('none', { extra: 'reacted', shown: [{ text: 'T1X n1', reactions }] });

    assert.equal(of('👍'), '');
    assert.match(of(), /reacted: its reaction does not show/);
  });

  it('expects an item of each press, and sends of each edit, part and reaction, in the books', () => {
    const of = (extra: Extra, more: readonly MoreOf[], books: Books): string =>
      judge(
        evidenceOf({
          lines: { T1X: ['acknowledged', [1, 1]] },
          extras: { T1X: { extra, more, shown: SEEN[extra] } },
          books,
        }),
      ).join();

    assert.equal(of('button', ['T1Xpressed1'], { items: { done: 2 }, sends: { sent: 2 } }), '');
    assert.match(of('button', ['T1Xpressed1'], { items: { done: 1 }, sends: { sent: 1 } }), /1 items are done, 2 of 2/);
    assert.equal(of('edited', [], { items: { done: 1 }, sends: { sent: 3 } }), '');
    assert.match(
      of('edited', [], { items: { done: 1 }, sends: { sent: 2 } }),
      /2 sends are sent for 1 items and 2 more/,
    );
    assert.match(
      of('reacted', [], { items: { done: 1 }, sends: { sent: 1 } }),
      /1 sends are sent for 1 items and 1 more/,
    );
  });

  it('expects a send of a file where that is one of its own', () => {
    const of = (sent: number, filesApart?: true): string =>
      judge(
        evidenceOf({
          lines: { T1X: ['acknowledged', [1, 1]] },
          extras: { T1X: { extra: 'file', more: [], shown: [{ text: 'T1X n1', files: ['T1X'] }] } },
          books: { items: { done: 1 }, sends: { sent } },
          ...(filesApart === undefined ? {} : { filesApart }),
        }),
      ).join();

    assert.equal(of(1), '');
    assert.equal(of(2, true), '');
    assert.match(of(1, true), /1 sends are sent for 1 items and 1 more/);
  });
});

const SEEN: Readonly<Record<Extra, readonly Shown[]>> = {
  edited: [{ text: 'T1X n1 twice' }],
  split: [],
  file: [],
  button: [],
  reacted: [{ text: 'T1X n1', reactions: ['👍'] }],
  given: [],
};

/** Those of one answered line that asked for an extra, whatever the books say. */
const extraFaults = (repeats: Repeats, extra: NonNullable<Case['extras']>[string]): string =>
  judge(evidenceOf({ repeats, lines: { T1X: ['acknowledged', [1, 1]] }, extras: { T1X: extra } }))
    .filter((fault) => / (edited|split|file|button|reacted): /.test(fault))
    .join('\n');
