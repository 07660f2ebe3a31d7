// Whether every promise was kept on a platform, from what the platform was told and what it was sent.
//
//   J1  What was acknowledged is answered, and what the platform keeps for the bot. What was never said is not.
//   J2  It is handled once: the bot's stored count of its conversation goes on by one with each, without a hole and without a number twice, in
//       the order in which the conversation spoke; what was only written has no order over the end of its connection.
//   J3  What the bot says shows once where the platform has a key, or where a post can be looked for; else at most once a life of the host, and a
//       kill makes no more of it show again than the outbox had in hand: one in a conversation, and in an account what repeats.ts derives. All of
//       it is counted, by account and by kill.
//   J4  Edits, parts, files, presses and reactions are as extras.ts says.
//   J5  The host's own books agree: every item of the account is done, as many as have a number, and every send is sent.
import { booksBeyond, type Extra, judgeExtras, type Shown } from './extras.ts';
import type { Ledger, Said } from './ledger.ts';
import { byKill, judgeRepeats, repeatsOf } from './repeats.ts';

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
  /** Sends that show again, once for each kill that made them. */
  readonly again: number;
  /** Kills that made anything of the account show again. */
  readonly byKills: number;
  readonly mostAtOneKill: number;
  readonly kills: number;
  /** Answered lines that asked for more than an answer. */
  readonly extras: Readonly<Partial<Record<Extra, number>>>;
}

export interface Evidence {
  readonly ledger: Ledger;
  readonly books: Books;
  readonly kills: number;
  /** What people see in the end. */
  readonly shown?: readonly Shown[] | undefined;
}

export function rowOf({ ledger, books, kills }: Evidence): Row {
  const perKill = [...byKill(repeatsOf(ledger)).values()].map(({ length }) => length);
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
    again: perKill.reduce((sum, count) => sum + count, 0),
    byKills: perKill.length,
    mostAtOneKill: Math.max(0, ...perKill),
    kills,
    extras: extrasOf(ledger),
  };
}

function extrasOf({ lines }: Ledger): Row['extras'] {
  const counts: Partial<Record<Extra, number>> = {};
  for (const { extra, answers } of lines.values())
    if (extra !== undefined && answers.length > 0) counts[extra] = (counts[extra] ?? 0) + 1;
  return counts;
}

export function judge(evidence: Evidence): readonly string[] {
  const { ledger } = evidence;
  const faults = [
    ...ledger.faults,
    ...judgeAnswers(ledger),
    ...judgeNumbers(ledger),
    ...judgeRepeats(ledger),
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
