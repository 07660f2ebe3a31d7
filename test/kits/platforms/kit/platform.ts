// What the kit asks of a platform: one file below platforms/ for each way of speaking to one, and one line in platforms/table.ts.

import type { Pace, Way } from '../../../support/fake-platforms/paced.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import { slowPost } from '../../crash/kit/slow-post.ts';
import type { Extra, Shown } from './extras.ts';

/** What somebody says to the bot, once. */
export interface Line {
  /** In the answer to it, and in no other one. */
  readonly token: string;
  readonly text: string;
  /** Counted from 1. */
  readonly conversation: number;
  /** What its answer is to be, besides a text. */
  readonly extra?: Extra | undefined;
}

/**
 * How a send that nobody knows the end of is kept from showing twice: by a key that the platform knows, by looking for it first, not at
 * all.
 */
export type Repeats = 'key' | 'search' | 'none';

/**
 * `acknowledged`: the platform was told that it is received, and never says it again. `kept`: the platform has it and the bot reads what it
 * missed. `written`: neither; it is on its way over a connection.
 */
export type Delivered = 'acknowledged' | 'kept' | 'written';

export interface Platform {
  readonly name: string;
  readonly repeats: Repeats;
  /** More answers than these are never owed at a time: what the account may send in some seconds. */
  readonly mostOwed: number;
  readonly conversations: number;
  /** Its answers can be read at the end alone. */
  readonly isReadLate?: boolean;
  /** After so many lines somebody goes on in a new conversation; default: never. */
  readonly linesAConversation?: number;
  /** What some of its lines ask for. */
  readonly extras?: readonly [Extra, ...Extra[]];
  /** A post with files cannot be looked for where others can: one may show again, as everything may where there is no key. */
  readonly filesRepeat?: true;
  /** The file of an answer is a send of its own. */
  readonly filesApart?: true;
  /** Why it cannot be had on this machine, or false. */
  missing?(): string | false;
  open(t: Cleanup): Promise<OpenPlatform>;
}

export interface OpenPlatform {
  readonly slot: string;
  /** Keys of the account, `id` among them; undefined for a platform without accounts. */
  readonly account?: Readonly<Record<string, unknown>>;
  /** Variables of the configuration. */
  readonly env?: Readonly<Record<string, string>>;
  /** Gives up, by a throw, when the signal aborts. */
  deliver(line: Line, to: Target): Promise<Delivered>;
  /** What the bot said so far, in order, from the n-th on. */
  answers(from: number): readonly string[];
  /** What people see of the bot in the end, in order; where there are extras. */
  shown?(): readonly Shown[];
  /** Somebody presses the button of the answer to that line; where there are buttons. */
  press?(line: Line, to: Target): Promise<Delivered>;
  /** Another address at which it is reached, where it tells people addresses of its own. */
  reachedAt?(front: string): void;
  /** Its calls that show a message are under way for as long as this says; where it can be told. */
  slowed?(pace: () => Way | undefined): void;
  /** Reads answers that only the host itself can tell, at the end. */
  finish?(to: Target): Promise<void>;
}

export interface Target {
  readonly url: string;
  readonly token: string;
  readonly signal: AbortSignal;
  /** Milliseconds that the body of a request is under way. */
  transitMs(): number;
  /** Whether what was acknowledged is to be said again, on purpose. */
  isRepeated(): boolean;
}

export interface SignedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const AGAIN_MS = 10;

/** Delivered over HTTP as a platform does it: again until it is answered 2xx, each time signed anew. */
export async function push(make: () => SignedRequest | Promise<SignedRequest>, to: Target): Promise<Delivered> {
  const attempt = async (): Promise<boolean> => {
    const { path, headers, body } = await make();
    const end = await slowPost({ url: `${to.url}${path}`, headers, body, transitMs: to.transitMs() });
    if (end.kind !== 'answered' || end.status === 503 || end.isStale) return false;
    if (end.status >= 200 && end.status < 300) return true;
    throw new Error(`a delivery to ${path} was answered ${end.status}: ${end.body.slice(0, 200)}`);
  };
  while (!(await attempt())) {
    to.signal.throwIfAborted();
    await pause(AGAIN_MS);
  }
  if (to.isRepeated()) await attempt();
  return 'acknowledged';
}

/** A platform that delivers over a connection: what is true once it was told that it is received. */
export async function acknowledgedWhen(condition: () => boolean, { signal }: Target): Promise<Delivered> {
  while (!condition()) {
    signal.throwIfAborted();
    await pause(2);
  }
  return 'acknowledged';
}

/** A platform without acknowledgements: says it as soon as the bot can be reached. */
export async function writtenWhen(say: () => boolean | Promise<boolean>, { signal }: Target): Promise<Delivered> {
  while (!(await say())) {
    signal.throwIfAborted();
    await pause(AGAIN_MS);
  }
  return 'written';
}

/** Whether the host says that an account is online. */
export async function isOnline(name: string, { url, token }: Target): Promise<boolean> {
  try {
    const { endpoints } = (await new HostApi(url, token).get('/api/endpoints')) as {
      readonly endpoints: readonly { readonly name: string; readonly state: string }[];
    };
    return endpoints.some((one) => one.name === name && one.state === 'online');
  } catch {
    return false; // it is down
  }
}

/** What the bot said, from the n-th on; read anew only where there is more of anything. */
export function grown(count: () => number, read: () => readonly string[]): (from: number) => readonly string[] {
  let texts: readonly string[] = [];
  let known = -1;
  return (from) => {
    const now = count();
    if (now !== known) texts = read();
    known = now;
    return texts.slice(from);
  };
}

/** The pace of a fake platform, of those of its calls that this names. */
export const slows =
  (fake: { pace: Pace | undefined }, calls: RegExp): NonNullable<OpenPlatform['slowed']> =>
  (pace) => {
    fake.pace = (route) => (calls.test(route) ? pace() : undefined);
  };

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
