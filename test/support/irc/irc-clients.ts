// IRC through clients that nobody here wrote, and what each has understood. irc-framework is the one that the adapter is built on, here by its
// own events; ircv3 has a parser, a negotiation and numerics of its own, and names itself only behind CAP END.
import { Client } from 'irc-framework';
import { IrcClient } from 'ircv3';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

export interface OtherClient {
  /** That it is registered, who joined, who has another nick, and messages, in their order. */
  readonly seen: readonly string[];
  /** Of the message with this text. */
  tagsOf(text: string): ReadonlyMap<string, string>;
  raw(line: string): void;
  /** Waits until it has seen that. */
  sees(what: string): Promise<void>;
}

interface OtherOptions {
  readonly port: number;
  readonly nick: string;
}

/** What both have in common. */
class Notes {
  readonly seen: string[] = [];
  readonly #tags = new Map<string, ReadonlyMap<string, string>>();

  // oxlint-disable-next-line max-params -- one line of IRC
  message(from: string, target: string, text: string, tags: ReadonlyMap<string, string>): void {
    this.#tags.set(text, tags);
    this.seen.push(`${from} to ${target}: ${text}`);
  }

  client(raw: (line: string) => void): OtherClient {
    const { seen } = this;
    return {
      seen,
      raw,
      tagsOf: (text) => this.#tags.get(text) ?? new Map(),
      sees: async (what) => void (await until(() => seen.includes(what), { what })),
    };
  }
}

type Told = Readonly<Record<string, string>> & { readonly tags: Readonly<Record<string, string>> };
/** More of irc-framework than the adapter uses. */
interface Framework {
  on(event: string, listener: (told: Told) => void): void;
  connect(options: object): void;
  raw(line: string): void;
  quit(): void;
}

function framework(t: Cleanup, { port, nick }: OtherOptions): OtherClient {
  const client = new Client() as unknown as Framework;
  const notes = new Notes();
  client.on('registered', (told) => void notes.seen.push(`registered ${told['nick']}`));
  client.on('join', (told) => void notes.seen.push(`${told['nick']} joined ${told['channel']}`));
  client.on('nick', (told) => void notes.seen.push(`${told['nick']} is ${told['new_nick']}`));
  client.on('privmsg', ({ tags, ...told }) =>
    notes.message(told['nick'] ?? '', told['target'] ?? '', told['message'] ?? '', new Map(Object.entries(tags))),
  );
  const account = { nick, username: 'other', gecos: 'other' };
  client.connect({ host: '127.0.0.1', port, ...account, auto_reconnect: false, ping_interval: 0 });
  t.after(() => client.quit());
  return notes.client((line) => client.raw(line));
}

function ircv3(t: Cleanup, { port, nick }: OtherOptions): OtherClient {
  const client = new IrcClient({
    connection: { hostName: '127.0.0.1', port, secure: false },
    credentials: { nick, userName: 'other', realName: 'other' },
    logger: { minLevel: 'critical' },
  });
  const notes = new Notes();
  client.onRegister(() => void notes.seen.push(`registered ${client.currentNick}`));
  client.onNickChange((former, now) => void notes.seen.push(`${former} is ${now}`));
  client.onPrivmsg((target, from, text, { tags }) => notes.message(from, target, text, tags));
  client.onNamedMessage('JOIN', ({ prefix, rawLine = '' }) => {
    notes.seen.push(`${prefix?.nick} joined ${/ JOIN :?(\S+)/.exec(rawLine)?.[1]}`);
  });
  client.connect();
  t.after(() => client.quitAbruptly());
  return notes.client((line) => client.sendRaw(line));
}

export const OTHERS = { 'irc-framework': framework, ircv3 } as const;
