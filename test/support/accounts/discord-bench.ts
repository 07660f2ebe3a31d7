// One account of the adapter discord at a fake Discord, for tests of the adapter alone: connections one after the other, as the host makes them.
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { type Account, account as keys } from '../../../worker/adapters/discord/config.ts';
import { connect } from '../../../worker/adapters/discord/connect.ts';
import { type GatewayTiming, TIMING } from '../../../worker/adapters/discord/gateway/gateway.ts';
import { discord as module } from '../../../worker/adapters/discord/index.ts';
import type { Arrival, CommandInfo, FileRef, Link, Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { check } from '../../../worker/sdk/schema/check.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { FakeDiscord } from '../fake-platforms/discord.ts';
import { until } from '../until.ts';
import { adapterLink, definitionOf } from './adapter-link.ts';

const adapter = definitionOf(module, keys);

export interface DiscordLink extends Link<Account> {
  readonly arrivals: readonly Arrival[];
  readonly logs: readonly unknown[];
  readonly isOnline: boolean;
  /** What does not work of it. */
  readonly trouble: string | undefined;
  /** Settles as the first catch-up does. */
  readonly caughtUp: Promise<unknown>;
  /** What the connection ended with; undefined when it was stopped. */
  readonly ended: Promise<(Error & { readonly code?: string; readonly remedy?: string }) | undefined>;
  stop(): void;
}

export interface DiscordBenchOptions {
  readonly change?: Partial<Account>;
  readonly timing?: Partial<GatewayTiming>;
  /** Stands between the adapter and the store: may throw or wait. */
  readonly store?: (arrivals: readonly Arrival[]) => Promise<void>;
}

export async function discordBench(t: TestContext, { change = {}, timing = {}, store }: DiscordBenchOptions = {}) {
  const links: DiscordLink[] = [];
  // The connections end before the platform does.
  t.after(async () => {
    for (const link of links) link.stop();
    await Promise.all(links.map(({ ended }) => ended));
  });
  const platform = await FakeDiscord.start(t);
  const given = { token: platform.token, applicationId: platform.world.application, apiUrl: platform.apiUrl };
  const checked = check({ type: 'object', properties: keys }, given);
  if (!checked.ok) throw new Error(checked.faults.join('; '));
  const account: Account = { ...(checked.value as Account), token: secret(platform.token), ...change };

  const open = (from?: string, of: Account = account): DiscordLink => {
    const link = makeLink(of, from, store);
    const made = { ...TIMING, retryMs: 10, positionMs: 50, identifyMs: 0, againMs: 10, ...timing };
    const ended = connect(link, made).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    const opened = Object.assign(link, { ended });
    links.push(opened);
    return opened;
  };
  const quiet = makeLink(account, undefined, store);
  const send = (call: Partial<Outgoing> & { readonly kind: Outgoing['kind'] }): Promise<SendResult> =>
    adapter.send(
      { key: 'k', conversation: platform.world.channel, text: '', buttons: [], files: [], ...call } as Outgoing,
      quiet,
    );
  /** It was there once, is stopped, and Discord has forgotten its session: what is said from now on is in the history alone. */
  const absent = async (): Promise<DiscordLink> => {
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    first.stop();
    await first.ended;
    platform.gateway.forgetSessions();
    return first;
  };
  const announce = async (commands: readonly CommandInfo[]): Promise<void> => adapter.announce?.(commands, quiet);
  return { platform, account, open, absent, send, announce, link: quiet, adapter };
}

/** What the files of sends hold. */
export const FILE: FileRef = { id: 'f', name: 'a b.txt', mime: 'text/plain', bytes: 5 };

function makeLink(account: Account, from: string | undefined, store: DiscordBenchOptions['store']): DiscordLink {
  const abort = new AbortController();
  const stored = new Map<string, Arrival>();
  const logs: unknown[] = [];
  let cursor = from;
  let isOnline = false;
  let trouble: string | undefined;
  let caughtUp: (value: unknown) => void = () => {};
  const line = (fields: object | string, text?: string): void =>
    void logs.push([typeof fields === 'object' && 'err' in fields ? String(fields.err) : fields, text]);
  const link: DiscordLink = {
    ...adapterLink(account),
    endpoint: 'root/discord:discord~main',
    signal: abort.signal,
    log: { debug: line, info: line, warn: line, error: line },
    logs,
    get cursor() {
      return cursor;
    },
    get isOnline() {
      return isOnline;
    },
    get arrivals() {
      return [...stored.values()].filter(({ user }) => user.self !== true);
    },
    caughtUp: new Promise((resolve) => {
      caughtUp = resolve;
    }),
    ended: Promise.resolve(undefined),
    get trouble() {
      return trouble;
    },
    degraded(reason) {
      trouble = reason;
    },
    online() {
      trouble = undefined;
      if (isOnline) return;
      isOnline = true;
      void adapter.catchUp?.(link).then(caughtUp, caughtUp);
    },
    readFile: async () => Buffer.from('bytes'),
    openFile: async () => ({ bytes: 5, content: () => Readable.from([Buffer.from('bytes')]) }),
    async receive(arrivals, next) {
      await store?.(arrivals);
      for (const arrival of arrivals) if (!stored.has(arrival.id)) stored.set(arrival.id, arrival);
      cursor = next ?? cursor;
    },
    stop: () => abort.abort(),
  };
  return link;
}

export const textsOf = ({ arrivals }: { readonly arrivals: readonly Arrival[] }): readonly unknown[] =>
  arrivals.map((one) => ('text' in one ? one.text : one.kind));

/** Resolves when all of these were said. */
export const has = (link: { readonly arrivals: readonly Arrival[] }, ...texts: readonly string[]): Promise<unknown> =>
  until(() => texts.every((text) => textsOf(link).includes(text)), { what: texts.join(', ') });
