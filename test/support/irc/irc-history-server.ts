// An IRC server that keeps what was said and tells it when it is asked: CHATHISTORY AFTER and TARGETS as the specification of IRCv3 has them.
// One bot at a time; lines of people are written by the test.

import type { Cleanup } from '../temporary-project.ts';
import { type ScriptedIrc, scriptedIrc } from './scripted-irc.ts';

interface Kept {
  readonly id: string;
  readonly place: string;
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

export interface HistoryOptions {
  /** Most lines of one answer (ISUPPORT CHATHISTORY). */
  readonly most?: number;
  /** Whether lines have a msgid; a bouncer may have none. */
  readonly ids?: boolean;
  /** By what a line can be named in a question (ISUPPORT MSGREFTYPES); soju knows times alone. */
  readonly refs?: 'timestamp' | 'timestamp,msgid';
  /** Nicks that are in use. */
  readonly taken?: readonly string[];
  /** Offers no way to ask, and tells what it kept behind a JOIN. */
  readonly plays?: boolean;
  /** `fails` for as many answers as `failures`, with what is the server's own trouble, or `is silent`; `refuses` who may not ask. */
  readonly behaves?: 'refuses' | 'fails' | 'is silent';
  readonly failures?: number;
  /** What a refusal says, but for the words for people. */
  readonly refusal?: string;
  /** What it says, late, before it answers who wrote. */
  readonly late?: string;
}

export class HistoryServer {
  /** Questions, oldest first. */
  readonly asked: string[] = [];
  onAsked: () => void = () => {};
  readonly #options: HistoryOptions;
  readonly #kept: Kept[] = [];
  #irc: ScriptedIrc | undefined;
  #nick = '*';
  #batches = 0;
  #failed = 0;

  private constructor(options: HistoryOptions) {
    this.#options = options;
  }

  static async start(t: Cleanup, options: HistoryOptions = {}): Promise<HistoryServer> {
    const server = new HistoryServer(options);
    const { taken = [], plays, most = 100, refs = 'timestamp,msgid' } = options;
    const capabilities = ['batch', 'message-tags', 'server-time', ...(plays === true ? [] : ['draft/chathistory'])];
    server.#irc = await scriptedIrc(t, {
      answer: (line, nick) => server.#answer(line, nick),
      registration: { capabilities, taken, supports: `CHATHISTORY=${most} MSGREFTYPES=${refs}` },
    });
    return server;
  }

  get port(): number {
    return this.#irc?.port ?? 0;
  }

  /** Said while the bot was away. The place is a channel, or the other one of a private conversation. */
  keep(
    place: string,
    from: string,
    text: string,
    {
      agoMs = 30_000,
      at = Date.now() - agoMs + this.#kept.length,
    }: { readonly agoMs?: number; readonly at?: number } = {},
  ): Kept {
    const kept = { id: `m${this.#kept.length}`, place, from, text, at };
    this.#kept.push(kept);
    return kept;
  }

  says(place: string, from: string, text: string): void {
    this.#irc?.send(`${this.#line(this.keep(place, from, text, { agoMs: 0 }))}\r\n`);
  }

  idOf(text: string): string | undefined {
    return this.#kept.find((one) => one.text === text)?.id;
  }

  timeOf(text: string): string {
    return new Date(this.#kept.find((one) => one.text === text)?.at ?? 0).toISOString();
  }

  #line({ id, place, from, text, at }: Kept, batch?: string): string {
    const tags = [
      ...(batch === undefined ? [] : [`batch=${batch}`]),
      ...(this.#options.ids === false ? [] : [`msgid=${id}`]),
      `time=${new Date(at).toISOString()}`,
    ];
    const target = place.startsWith('#') || from !== place ? place : this.#nick;
    return `@${tags.join(';')} :${from}!u@h PRIVMSG ${target} :${text}`;
  }

  #answer(line: string, nick: string): readonly string[] | undefined {
    const { plays, most = 100 } = this.#options;
    const [command = '', first = '', ...words] = line.split(' ');
    this.#nick = nick;
    switch (command) {
      case 'JOIN':
        return [
          `@time=${new Date().toISOString()} :${nick}!u@h JOIN ${first}`,
          `:s 366 ${nick} ${first} :End`,
          ...(plays === true ? this.#batch('chathistory', first, this.#of(first)) : []),
        ];
      case 'CHATHISTORY':
        this.asked.push(line);
        this.onAsked();
        this.onAsked = () => {};
        return this.#history(first, words, most);
      default:
        return undefined;
    }
  }

  #history(kind: string, words: readonly string[], most: number): readonly string[] {
    const { behaves, refs, late, refusal, failures = Number.POSITIVE_INFINITY } = this.#options;
    if (behaves === 'is silent' && this.#failed < failures) {
      this.#failed += 1;
      return [];
    }
    if (refs === 'timestamp' && words[1]?.startsWith('msgid='))
      return [
        `:s FAIL CHATHISTORY INVALID_MSGREFTYPE ${kind} ${words[0]} ${words[1]} :Message reference type not supported`,
      ];
    if (behaves === 'refuses')
      return [
        `:s FAIL CHATHISTORY ${refusal ?? `INVALID_TARGET ${kind} ${words[0]}`} :Messages could not be retrieved`,
      ];
    if (behaves === 'fails' && this.#failed < failures) {
      this.#failed += 1;
      return [`:s FAIL CHATHISTORY MESSAGE_ERROR ${kind} ${words[0]} :Messages could not be retrieved`];
    }
    const limit = Math.min(most, Number(words.at(-1)));
    if (kind === 'TARGETS') return [...(late === undefined ? [] : [late]), ...this.#targets(words, limit)];
    const [place = '', from = ''] = words;
    const found = this.#of(place).filter((one, i, all) =>
      from.startsWith('msgid=')
        ? i > all.findIndex(({ id }) => id === from.slice(6))
        : one.at > Date.parse(from.slice('timestamp='.length)),
    );
    return this.#batch('chathistory', place, found.slice(0, limit));
  }

  /** Counted from the first time on, as BETWEEN is. */
  #targets([from = '', to = '']: readonly string[], limit: number): readonly string[] {
    const at = (text: string): number => Date.parse(text.slice('timestamp='.length));
    const ref = `b${++this.#batches}`;
    const places = [...new Set(this.#kept.map(({ place }) => place))]
      .map((place) => ({ place, last: Math.max(...this.#of(place).map((one) => one.at)) }))
      .filter(({ last }) => last > at(from) && last < at(to))
      .toSorted((a, b) => a.last - b.last)
      .slice(0, limit)
      .map(({ place, last }) => `@batch=${ref} :s CHATHISTORY TARGETS ${place} ${new Date(last).toISOString()}`);
    return [`:s BATCH +${ref} draft/chathistory-targets`, ...places, `:s BATCH -${ref}`];
  }

  #of(place: string): readonly Kept[] {
    return this.#kept.filter((one) => one.place === place).toSorted((a, b) => a.at - b.at);
  }

  #batch(type: string, place: string, kept: readonly Kept[]): readonly string[] {
    const ref = `b${++this.#batches}`;
    return [`:s BATCH +${ref} ${type} ${place}`, ...kept.map((one) => this.#line(one, ref)), `:s BATCH -${ref}`];
  }
}
