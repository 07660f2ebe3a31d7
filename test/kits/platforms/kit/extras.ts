// What is more than a line and its answer: edits, answers in several parts, files both ways, buttons, reactions. A small share of the lines
// asks for one.
//
//   X1  A message that is edited shows its last text in the end; where the platform has no key an older copy of it may show too.
//   X2  An answer in parts shows all its words in their order, each part once where the platform has a key or can be looked at; elsewhere a part
//       may show again behind itself.
//   X3  The file of an answer shows with it, whole, and once where the platform has a key; where it takes no files, a link to it that opens.
//   X4  A press that was acknowledged is handled once, and what the bot says to it shows.
//   X5  A reaction of the bot is there in the end.
//   X6  Of a line that came as a file nothing is known but what is in it: that it is answered says that it was read, whole.
import type { Ledger, Said } from './ledger.ts';
import { mayRepeat } from './repeats.ts';

export type Extra = 'edited' | 'split' | 'file' | 'button' | 'reacted' | 'given';

/** A message of the bot as people see it in the end. */
export interface Shown {
  readonly text: string;
  /** What is in its files. */
  readonly files?: readonly string[];
  /** Of the bot. */
  readonly reactions?: readonly string[];
}

/** Of an answer in parts; more than any platform takes at once. */
export const WORDS = 900;
/** Beside the post of an edited message. */
const EDITS = 2;
const PART = /T[0-9a-z]+Xw\d+/;
const PRESSED = /T[0-9a-z]+Xpressed(\d+)/;

/** What the bot says about a line beside its answer: a further part, its file, or that its button was pressed. */
export const tokenOfMore = (text: string): string | undefined => /(T[0-9a-z]+X)(?:w\d|pressed\d|file$)/.exec(text)?.[1];

/** How a platform tells of a message that is a file alone. */
export const fileShown = (content: string): string => `${content}file`;

/** What a line asks for, in the words of the plugin. */
export const askedFor = (extra: Extra | undefined): string => (extra === undefined ? '' : ` as ${extra}`);

export function judgeExtras(ledger: Ledger, shown: readonly Shown[]): string[] {
  const byToken = new Map<string, Shown[]>();
  for (const one of shown) {
    const token = /T[0-9a-z]+X/.exec(one.text)?.[0] ?? '';
    byToken.set(token, [...(byToken.get(token) ?? []), one]);
  }
  return [...ledger.lines.values()].flatMap((said) => {
    if (said.extra === undefined || said.answers.length === 0) return [];
    const fault = FAULTS[said.extra](said, {
      shown: byToken.get(said.token) ?? [],
      mayRepeat: mayRepeat(ledger, said),
    });
    return fault === undefined ? [] : [`${said.token}, ${said.extra}: ${fault}`];
  });
}

interface Seen {
  readonly shown: readonly Shown[];
  readonly mayRepeat: boolean;
}
const FAULTS: Readonly<Record<Extra, (said: Said, seen: Seen) => string | undefined>> = {
  edited(_said, { shown, mayRepeat }) {
    const last = shown.at(-1)?.text ?? '';
    if (!last.endsWith(' twice')) return `the last edit does not show: "${last}"`;
    return mayRepeat || shown.length === 1 ? undefined : `it shows ${shown.length} times`;
  },
  split({ token }, { shown, mayRepeat }) {
    const parts = shown.map(({ text }) => text).filter((text) => PART.test(text));
    const once = mayRepeat ? parts.filter((text, index) => text !== parts[index - 1]) : parts;
    const words = once.flatMap((text) => [...text.matchAll(/Xw(\d+)/g)].map(([, word]) => Number(word)));
    const wrong = Array.from({ length: Math.max(WORDS, words.length) }, (_, index) => index).find(
      (index) => words[index] !== index + 1,
    );
    if (wrong === undefined) return undefined;
    return `${once.length} parts show ${words.length} words; the ${wrong + 1}th is ${words[wrong] ?? 'missing'} (${token})`;
  },
  file({ token }, { shown, mayRepeat }) {
    const files = shown.flatMap((one) => one.files ?? []);
    if (!files.includes(token)) return 'its file does not show';
    if (files.some((content) => content !== token)) return `its file holds "${files.join('", "')}"`;
    return mayRepeat || files.length === 1 ? undefined : `its file shows ${files.length} times`;
  },
  button({ press, more }, { mayRepeat }) {
    const handled = more.flatMap(({ text }) => PRESSED.exec(text)?.[1] ?? []);
    if (handled.some((number) => number !== '1')) return `its press was handled ${handled.join(', ')} times`;
    if (press === 'acknowledged' && handled.length === 0) return 'its press was acknowledged and never answered';
    return mayRepeat || handled.length < 2 ? undefined : `what was said to its press shows ${handled.length} times`;
  },
  reacted(_said, { shown }) {
    return shown.some(({ reactions = [] }) => reactions.length > 0) ? undefined : 'its reaction does not show';
  },
  given: () => undefined, // X6
};

/** Presses that were acknowledged and of which nothing shows: counts of the host's stores are not of one moment, and may miss what is on its way. */
export const unansweredPresses = ({ lines }: Ledger): number =>
  [...lines.values()].filter(
    ({ press, more }) => press === 'acknowledged' && !more.some(({ text }) => PRESSED.test(text)),
  ).length;

/** What the books of the host have beside an item and a send for each line. */
export function booksBeyond({ lines, platform }: Ledger): {
  readonly presses: number;
  readonly answeredPresses: number;
  readonly sends: number;
} {
  let [presses, answeredPresses, sends] = [0, 0, 0];
  for (const { extra, answers, more, press } of lines.values()) {
    if (press !== undefined) presses += 1;
    if (more.some(({ text }) => PRESSED.test(text))) answeredPresses += 1;
    if (answers.length === 0) continue;
    if (extra === 'edited') sends += EDITS;
    if (extra === 'reacted') sends += 1;
    if (extra === 'file' && platform.filesApart === true) sends += 1;
    sends += new Set(more.flatMap(({ text }) => (PART.test(text) ? [text] : []))).size;
  }
  return { presses, answeredPresses, sends };
}
