// Whether every promise was kept on a platform, from what the platform was told and what it was sent.
//
//   J1  What was acknowledged is answered, and what the platform keeps for the bot. What was never said is not.
//   J2  It is handled once: the bot's stored count of its conversation goes on by one with each, without a hole and without a number twice, in
//       the order in which the conversation spoke; what was only written has no order over the end of its connection.
//   J3  An answer shows once where the platform has a key, or where a post can be looked for; else at most once a life of the host, and a
//       kill makes at most one of the account show again: that which was under way. They are counted. Apart from those are calls that took over
//       PATIENCE_MS when the kill came: the sender lets the next go beside them.
//   J4  Edits, parts, files and presses are as extras.ts says.
//   J5  The host's own books agree: every item of the account is done, as many as have a number, and every send is sent.
import { booksBeyond, judgeExtras, type Shown } from './extras.ts';
import type { Ledger, Said } from './ledger.ts';

/** Of the sender: a call that takes longer lets the next one go. */
const PATIENCE_MS = 2_000;

export interface Books {
  /** Items of the account that are messages, by state. */
  readonly items: Readonly<Record<string, number>>;
  /** Sends of the account, by state. */
  readonly sends: Readonly<Record<string, number>>;
}

export interface Row {
  readonly name: string;
  readonly repeats: string;
  readonly said: number;
  /** Undefined where nobody acknowledges. */
  readonly acknowledged: number | undefined;
  readonly handled: number;
  readonly answered: number;
  readonly doubled: number;
  /** Slow calls left out. */
  readonly mostAtOneKill: number;
  /** Of those that show again, the calls that the kill found under way for too long. */
  readonly slow: number;
  readonly kills: number;
  /** Answered lines that asked for an edit, parts, a file or a button. */
  readonly extras: number;
}

export interface Evidence {
  readonly ledger: Ledger;
  readonly books: Books;
  readonly kills: number;
  /** What people see in the end. */
  readonly shown?: readonly Shown[] | undefined;
}

export function rowOf({ ledger, books, kills }: Evidence): Row {
  const { perKill, slow } = doublesOf(ledger);
  const fates = [...ledger.lines.values()].map(({ fate }) => fate);
  const { name, repeats } = ledger.platform;
  return {
    name,
    repeats,
    said: ledger.said,
    acknowledged:
      fates.includes('written') || fates.includes('kept')
        ? undefined
        : fates.filter((fate) => fate === 'acknowledged').length,
    handled: books.items['done'] ?? 0,
    answered: ledger.answered,
    doubled: [...perKill.values()].reduce((sum, count) => sum + count, slow),
    mostAtOneKill: Math.max(0, ...perKill.values()),
    slow,
    kills,
    extras: [...ledger.lines.values()].filter(({ extra, answers }) => extra !== undefined && answers.length > 0).length,
  };
}

export function judge(evidence: Evidence): readonly string[] {
  const { ledger } = evidence;
  const faults = [
    ...ledger.faults,
    ...judgeAnswers(ledger),
    ...judgeNumbers(ledger),
    ...judgeDoubles(ledger),
    ...judgeBooks(evidence),
    ...judgeExtras(ledger, evidence.shown ?? []),
  ];
  return faults.map((fault) => `${ledger.platform.name}: ${fault}`);
}

/** J1. */
const judgeAnswers = (ledger: Ledger): string[] =>
  [...ledger.lines.values()]
    .filter(({ fate, answers }) => (fate === 'acknowledged' || fate === 'kept') && answers.length === 0)
    .map(({ token, fate }) => `${token} was ${fate} and never answered`);

/** J2. */
function judgeNumbers(ledger: Ledger): string[] {
  const faults: string[] = [];
  for (const [conversation, lines] of conversationsOf(ledger)) {
    const owners = new Map<number, string>();
    for (const { token, answers } of lines) {
      const numbers = [...new Set(answers.map(({ number }) => number))];
      if (numbers.length > 1) faults.push(`${token} was handled ${numbers.length} times: as ${numbers.join(', ')}`);
      const taken = numbers.find((number) => owners.has(number));
      if (taken !== undefined) faults.push(`${owners.get(taken)} and ${token} were both handled as number ${taken}`);
      for (const number of numbers) owners.set(number, token);
    }
    const missing = Array.from({ length: owners.size }, (_, index) => index + 1).filter((n) => !owners.has(n));
    if (missing.length > 0)
      faults.push(`conversation ${conversation} lacks the answers with numbers ${missing.slice(0, 5).join(', ')}`);
    faults.push(...judgeOrder(lines.filter(({ answers }) => answers.length > 0)));
  }
  return faults;
}

/** J2, among the answered lines of a conversation. */
const judgeOrder = (lines: readonly Said[]): string[] =>
  lines.flatMap((line, index) => {
    const before = lines[index - 1];
    const isTurned = before !== undefined && before.endedAs <= line.begunAs && numberOf(before) > numberOf(line);
    const isOrdered = before?.fate !== 'written' || before.deliveredIn === line.deliveredIn;
    return isTurned && isOrdered
      ? [`${line.token} was handled before ${before.token}, which was acknowledged before it was said`]
      : [];
  });

/** J3. */
function judgeDoubles(ledger: Ledger): string[] {
  const { repeats } = ledger.platform;
  const faults: string[] = [];
  const again = new Set<string>();
  for (const { token, answers, conversation } of ledger.lines.values()) {
    if (answers.length < 2) continue;
    const lives = answers.map(({ life }) => life);
    if (repeats !== 'none')
      faults.push(`the answer to ${token} shows ${answers.length} times, in lives ${lives.join(', ')}`);
    else if (new Set(lives).size < lives.length)
      faults.push(`the answer to ${token} shows twice in one life: ${lives.join(', ')}`);
    for (const life of lives.slice(0, -1)) {
      const place = `${conversation} at the end of life ${life}`;
      if (again.has(place)) faults.push(`two answers show again in conversation ${place}`);
      again.add(place);
    }
  }
  for (const [life, count] of doublesOf(ledger).perKill)
    if (count > 1) faults.push(`${count} answers of the account show again at the end of life ${life}`);
  return faults;
}

/** J5. */
function judgeBooks({ ledger, books: { items, sends } }: Evidence): string[] {
  const done = items['done'] ?? 0;
  const open = [...openOf(items, 'done', 'item'), ...openOf(sends, 'sent', 'send')];
  const beyond = booksBeyond(ledger);
  const [least, most] = [ledger.answered + beyond.answeredPresses, ledger.said + beyond.presses];
  const counts = [
    ...(done < least || done > most ? [`${done} items are done, ${least} of ${most} lines are answered`] : []),
    ...((sends['sent'] ?? 0) === done + beyond.sends
      ? []
      : [
          `${sends['sent'] ?? 0} sends are sent for ${done} items${beyond.sends === 0 ? '' : ` and ${beyond.sends} more`}`,
        ]),
  ];
  return [...open, ...counts];
}

const openOf = (counts: Readonly<Record<string, number>>, end: string, what: string): string[] =>
  Object.entries(counts)
    .filter(([state, count]) => state !== end && count > 0)
    .map(([state, count]) => `${count} ${what}s are ${state}`);

/** How many answers show again because of each kill: the one at the end of the life in which the answer was there before. */
function doublesOf({ lines, ends }: Ledger): { readonly perKill: ReadonlyMap<number, number>; readonly slow: number } {
  const perKill = new Map<number, number>();
  let slow = 0;
  for (const { answers } of lines.values())
    for (const { life, at } of answers.slice(0, -1))
      if ((ends.get(life) ?? at) - at > PATIENCE_MS) slow += 1;
      else perKill.set(life, (perKill.get(life) ?? 0) + 1);
  return { perKill, slow };
}

function conversationsOf(ledger: Ledger): ReadonlyMap<number, readonly Said[]> {
  const conversations = new Map<number, Said[]>();
  for (const line of ledger.lines.values()) {
    const lines = conversations.get(line.conversation);
    if (lines === undefined) conversations.set(line.conversation, [line]);
    else lines.push(line);
  }
  return conversations;
}

const numberOf = ({ answers }: Said): number => answers[0]?.number ?? 0;
