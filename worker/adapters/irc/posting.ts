// Sends the posts of one connection.
//
//   IRC-POSTING-1  A post is sent when the server has answered a PING that followed its last line. Posts go out one at a time, in order, within the
//                  flood limit.
//   IRC-POSTING-2  If the server refuses only formatted lines (channel mode +c), they are repeated as plain text. Later posts to that target are
//                  plain for the rest of the connection.
import type { SendResult } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import type { Confirmations, Refused } from './confirmations.ts';
import { type Bucket, type FloodLimit, fullBucket, takeLine } from './connection/flood.ts';
import { hasCodes, withoutCodes } from './formatting.ts';
import { messageLines } from './lines.ts';

const NOT_JOINED_MS = 5_000;
const MOST_PLAIN = 1_000;

export interface PostingOptions {
  readonly confirmations: Confirmations;
  readonly flood: FloodLimit;
  nick(): string;
  isOpen(): boolean;
  /** Resolves when the socket is read again. Until then no confirmation can arrive. */
  flowing(): Promise<void> | undefined;
  /** True for a configured channel that is not joined. */
  isMissing(target: string): boolean;
  lower(text: string): string;
  raw(line: string): void;
}

interface Post {
  readonly key: string;
  readonly target: string;
  readonly lines: readonly string[];
}

export class Posting {
  readonly #options: PostingOptions;
  /** Targets that refuse formatting codes. */
  readonly #plain = new Map<string, true>();
  #bucket: Bucket;
  #turn: Promise<unknown> = Promise.resolve();
  #pings = 0;

  constructor(options: PostingOptions) {
    this.#options = options;
    this.#bucket = fullBucket(performance.now(), options.flood);
  }

  /** Throws if lines were written and the server did not confirm them. */
  async post(key: string, target: string, text: string): Promise<SendResult> {
    const { isMissing, lower, nick } = this.#options;
    if (isMissing(target)) return { kind: 'later', afterMs: NOT_JOINED_MS };
    const said = this.#plain.has(lower(target)) ? withoutCodes(text) : text;
    const lines = messageLines(said, { nick: nick(), target });
    if (lines.length === 0) return { kind: 'refused', reason: 'nothing to say: the text is blank' };

    const refused = await this.#say({ key, target, lines });
    const coded = lines.filter(hasCodes);
    if (refused?.result.kind !== 'refused' || coded.length === 0 || refused.lines !== coded.length)
      return refused?.result ?? { kind: 'sent' };
    const again = await this.#say({ key, target, lines: coded.map(withoutCodes) });
    if (again === undefined) keepNewest(this.#plain, [lower(target), true], MOST_PLAIN);
    if (again?.result.kind === 'later' && coded.length < lines.length)
      throw new Error('connection lost between two lines');
    return again?.result ?? { kind: 'sent' };
  }

  /** Resolves when the server has taken all lines before this ping, with its refusal of a line to the target. */
  ping(name: string, target?: string): Promise<Refused | undefined> {
    const token = `svc-${name}-${++this.#pings}`;
    const answered = this.#options.confirmations.expect(token, target);
    this.#options.raw(`PING :${token}`);
    return answered;
  }

  async #say(post: Post): Promise<Refused | undefined> {
    const written = this.#turn.then(() => this.#write(post));
    this.#turn = written.catch(() => {});
    const { confirmed } = await written;
    if (confirmed === undefined) return { result: { kind: 'later', afterMs: NOT_JOINED_MS }, lines: 0 };
    return confirmed;
  }

  /** Waits for the flood limit, then writes all lines and the PING. Nothing was written if the result lacks `confirmed`. */
  async #write({
    key,
    target,
    lines,
  }: Post): Promise<{ readonly confirmed: Promise<Refused | undefined> | undefined }> {
    for (const [index, line] of lines.entries()) {
      await this.#pace();
      await this.#options.flowing();
      if (!this.#options.isOpen()) {
        if (index === 0) return { confirmed: undefined };
        throw new Error('connection lost between two lines');
      }
      this.#options.raw(`PRIVMSG ${target} :${line}`);
    }
    this.#bucket = takeLine(this.#bucket, performance.now(), this.#options.flood).bucket;
    return { confirmed: this.ping(key.replace(/[^\w.-]/g, '-').slice(0, 80), target) };
  }

  async #pace(): Promise<void> {
    const { bucket, waitMs } = takeLine(this.#bucket, performance.now(), this.#options.flood);
    this.#bucket = bucket;
    if (waitMs > 0) await new Promise<void>((resolve) => void setTimeout(resolve, waitMs));
  }
}
