// What people see again of the bot, by the kill that made it so.
//
//   B1  The outbox has one send of a conversation in hand at a time, and begins none before what came of the one before it is on the disk. A kill
//       leaves one of them without a result: it alone is made again. In a conversation it is one at a kill.
//   B2  Where the platform has no key the calls of an account come one after the other in the same way, and none here is under way for longer than
//       the sender waits for it: in an account, too, it is one at a kill.
//   B3  Nothing is left out: each send that shows again counts, of answers, parts, files and what is said to presses alike, at the end
//       of the life in which it showed before. A post and its files are one send, whatever number of messages they are. An edit or a
//       reaction that is made again shows nothing new.
//   B4  With a key, or where a post is looked for before it is repeated, it is none.
import type { Ledger, More, Said, Showing } from './ledger.ts';

/** A send of the bot, with each time that any message of it shows. */
interface Sent {
  readonly name: string;
  readonly conversation: number;
  readonly mayRepeat: boolean;
  readonly messages: readonly (readonly Showing[])[];
}

export interface Again {
  readonly name: string;
  readonly conversation: number;
  /** Of the life in which it showed before. */
  readonly life: number;
}

/** Whether a send of this line may show twice. */
export const mayRepeat = ({ platform }: Pick<Ledger, 'platform'>, { extra }: Pick<Said, 'extra'>): boolean =>
  platform.repeats === 'none' || (extra === 'file' && platform.filesRepeat === true);

/** All sends that show again, once for each kill. */
export const repeatsOf = (ledger: Ledger): readonly Again[] => sendsOf(ledger).flatMap(againOf);

/** By the life at whose end they were made to. */
export function byKill(repeats: readonly Again[]): ReadonlyMap<number, readonly Again[]> {
  const kills = new Map<number, Again[]>();
  for (const one of repeats) kills.set(one.life, [...(kills.get(one.life) ?? []), one]);
  return kills;
}

export function judgeRepeats(ledger: Ledger): string[] {
  const faults = sendsOf(ledger).flatMap(faultsOf);
  for (const [life, again] of byKill(repeatsOf(ledger))) {
    const seen = new Set<number>();
    for (const { conversation } of again) {
      if (seen.has(conversation))
        faults.push(`two sends show again in conversation ${conversation} at the end of life ${life}`); // B1
      seen.add(conversation);
    }
    if (again.length > 1)
      faults.push(`${again.length} sends of the account show again at the end of life ${life}, where one may`); // B2
  }
  return faults;
}

/** B4, and that nothing shows twice within a life. */
const faultsOf = ({ name, mayRepeat: may, messages }: Sent): string[] =>
  messages.flatMap((showings) => {
    if (showings.length < 2) return [];
    const lives = showings.map(({ life }) => life);
    if (!may) return [`${name} shows ${lives.length} times, in lives ${lives.join(', ')}`];
    return new Set(lives).size < lives.length ? [`${name} shows twice in one life: ${lives.join(', ')}`] : [];
  });

/** B3. */
function againOf({ name, conversation, messages }: Sent): readonly Again[] {
  const before = messages.flatMap((showings) => showings.slice(0, -1));
  return [...new Set(before.map(({ life }) => life))].map((life) => ({ name, conversation, life }));
}

const sendsOf = (ledger: Ledger): readonly Sent[] =>
  [...ledger.lines.values()].flatMap((said) => sendsAbout(ledger, said));

function sendsAbout(ledger: Ledger, said: Said): readonly Sent[] {
  const { token, conversation, answers, more } = said;
  const of = { conversation, mayRepeat: mayRepeat(ledger, said) };
  const files = alike(more.filter(({ text }) => isFile(text)));
  const others = alike(more.filter(({ text }) => !isFile(text)));
  const numbers = alike(answers.map((answer) => ({ ...answer, text: String(answer.number) })));
  const answer = { name: `the answer to ${token}`, ...of, messages: [...numbers, ...files] };
  const rest = others.map((showings) => ({
    name: `what is said of ${token} in "${showings[0]?.text.slice(0, 20)}"`,
    ...of,
    messages: [showings],
  }));
  return [answer, ...rest];
}

const isFile = (text: string): boolean => text.endsWith('Xfile');

/** The times of each message. */
function alike(shown: readonly More[]): readonly (readonly More[])[] {
  const byText = new Map<string, More[]>();
  for (const one of shown) byText.set(one.text, [...(byText.get(one.text) ?? []), one]);
  return [...byText.values()];
}
