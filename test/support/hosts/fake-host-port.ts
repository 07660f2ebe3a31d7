// A small host in memory behind HostApi, for tests of the HTTP interface over real sockets. It keeps what was asked of it
// (`calls`), so that a test can see that a refused request changed nothing.
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { IngressState } from '../../../shared/api/runtime.ts';
import type { ReadinessReport } from '../../../shared/api/serving/readiness.ts';
import { judgeAcceptance } from '../../../shared/recovery/acceptance.ts';
import { Secret } from '../../../shared/secret.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { KeptAnswer } from '../../../worker/http/answer/kept-answer.ts';
import type { HttpSettings } from '../../../worker/http/api/caller.ts';
import type { EventGateway } from '../../../worker/http/api/events-api.ts';
import type { HostApi } from '../../../worker/http/api/host-api.ts';
import type { ItemStore } from '../../../worker/http/api/items-api.ts';
import { fakeAlerts } from '../alerts/fake-alerts.ts';
import { ACCEPTANCE_FACTS } from '../recovery/acceptance-facts.ts';
import { fakeJobs } from './fake-jobs.ts';
import { FAKE_RELEASES, fakeCheckpoints } from './fake-recovery.ts';
import { fakeWorkroom } from './fake-workroom.ts';

const WAITING_TASK = {
  id: '1',
  kind: 'task',
  at: '2026-01-02T00:00:00.000Z',
  capability: 'root/x#task/fire',
  key: 'k',
  data: {},
} as const;
const WEBHOOK_ADDRESS = {
  endpoint: 'root/irc:irc~libera',
  path: '/webhooks/irc/libera',
  url: 'https://bot.example/webhooks/irc/libera',
  registers: true,
};

const ACCEPTANCE = {
  accepted: false,
  id: null,
  rows: judgeAcceptance(ACCEPTANCE_FACTS),
  facts: ACCEPTANCE_FACTS,
};

export const FULL_TOKEN = 'full-token-0123456789abcdef';
export const DEMO_TOKEN = 'demo-token-0123456789abcdef';
export const WEBHOOK_SECRET = 'webhook-secret-0123456789';

export interface FakeHostOptions {
  readonly base?: string;
  readonly corsOrigins?: readonly string[];
  readonly publicOrigin?: string;
  readonly trustedProxies?: readonly string[];
  readonly limits?: Partial<HttpSettings['limits']>;
}

export interface FakeHost extends HostApi {
  /** Every call that would change something, by name. */
  readonly calls: string[];
  /** What `observe` was told. */
  readonly observed: Parameters<HostApi['observe']>[0][];
  /** Streams that are open. */
  readonly streams: Set<ServerResponse>;
  isReady: boolean;
  current: HttpSettings;
  chat: HostApi['chat'];
  /** Makes the next `deliver` or `reload` fail with this. */
  failure: Error | undefined;
}

export function fakeHostPort({
  base = '',
  corsOrigins = [],
  publicOrigin,
  trustedProxies = [],
  limits = {},
}: FakeHostOptions = {}): FakeHost {
  const calls: string[] = [];
  const observed: FakeHost['observed'] = [];
  const streams = new Set<ServerResponse>();
  let ingress: IngressState = { state: 'open', mode: 'park', reason: null, until: null, since: null, by: null };
  const answers = new Map<string, { digest: string; answer?: KeptAnswer }>();
  const host: FakeHost = {
    calls,
    observed,
    streams,
    isReady: true,
    failure: undefined,
    current: {
      base,
      corsOrigins,
      publicOrigin,
      trustedProxies,
      tokens: [
        { name: 'main', scope: 'full', token: new Secret(FULL_TOKEN) },
        { name: 'demo', scope: 'demo', token: new Secret(DEMO_TOKEN) },
      ],
      limits: { connections: 1_000, connectionsPerAddress: 50, streamsPerToken: 2, bodyBytes: 1024 * 1024, ...limits },
    },
    settings: () => host.current,
    system: {
      ready: () => host.isReady,
      readiness: () => reportOf(host.isReady),
      status: async () => ({
        name: 'fake',
        kind: 'bot',
        version: '0.0.0',
        runtimeId: 'runtime-1',
        generation: 7,
        reasons: ['endpoint:root/irc:irc~libera: banned: hello nick'],
        ingress: { state: 'paused', mode: 'park', reason: 'hello', until: null, since: null, by: 'nick' },
        lastFailure: { code: 'config_invalid', reason: 'hello: no such plugin' },
      }),
      requestRestart: async () => void calls.push('restart'),
      reload: async (_caller, { orRestart }) => {
        if (host.failure !== undefined) throw host.failure;
        calls.push(orRestart ? 'reload or restart' : 'reload');
        return { generation: 8, warnings: [] };
      },
      plugins: () => ({
        plugins: [
          {
            slot: 'echo',
            owner: 'root/echo',
            use: './hello/nick',
            name: 'echo',
            kind: 'plugin',
            source: 'project',
            capabilities: [],
            endpoints: [],
          },
        ],
        order: [],
      }),
      config: () => ({ version: 'sha256:0', config: { http: { token: '${SVC_TOKEN}' } }, values: [] }),
      logs: async ({ lines }) => [{ level: 'info', msg: 'started', lines }],
      metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'svc_ready 1\n' }),
      serving: () => ({ generation: 7 }),
      refuseUnlessServing: () => {},
    },
    ingress: {
      state: () => ingress,
      status: async () => ({ ...ingress, quiet: true, parked: 0, waitingSends: 0, handlers: [], sends: [] }),
      preview: async () => ({ items: [], jobs: [], tasks: [] }),
      // oxlint-disable-next-line max-params -- as the port says
      set: async ({ actor }, change, { isMeant = () => true }) => {
        if (!isMeant(ingress)) throw new SvcError('precondition_failed', 'another revision is there');
        calls.push(`ingress ${change.state}`);
        ingress = { ...ingress, reason: null, until: null, ...change, by: actor };
        return ingress;
      },
    },
    deliveries: {
      limit: (path) => (['hook', 'hook/main', 'hook/socket'].includes(path) ? 2 * 1024 * 1024 : undefined),
      challenge: () => undefined,
      deliver: async ({ headers, body }) => {
        if (host.failure !== undefined) throw host.failure;
        if (headers['x-signature'] !== WEBHOOK_SECRET)
          throw new SvcError('bad_signature', 'no signature of this platform');
        calls.push(`deliver ${body.length}`);
        return { status: 202, json: { bytes: body.length } };
      },
      sockets: {
        takes: (path) => path === 'hook/socket',
        open: ({ headers }) => {
          if (headers['x-signature'] !== WEBHOOK_SECRET)
            throw new SvcError('bad_signature', 'no signature of this platform');
          return async (_request, socket) => {
            calls.push('platform socket');
            socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
          };
        },
        count: 0,
      },
      pluginRoute: (method, slot, path) => {
        if (slot !== 'echo' || !['/open', '/closed', '/broken', '/switch', '/split'].includes(path)) return undefined;
        if (method !== 'GET' && method !== 'POST') return { allow: ['GET', 'POST'] };
        return {
          scope: path === '/open' ? 'none' : 'full',
          run: async ({ body }) => {
            if (path === '/broken') throw new Error('secret detail of /srv/plugin.ts');
            if (path === '/switch') return { status: 101 };
            if (path === '/split') return { status: 200, headers: { 'X-Split': 'a\r\nb' } };
            if (method === 'POST') calls.push(`plugin ${path}`);
            return {
              status: 200,
              text: Buffer.from(body).toString(),
              headers: { 'Content-Length': '9999', 'X-Plugin': 'echo' },
            };
          },
        };
      },
    },
    files: {
      open: async ({ id, signature }) => {
        if (signature !== 'good') throw new SvcError('link_invalid', 'not a link of this host');
        if (id !== '1') throw new SvcError('not_found', 'not kept any more');
        const content = () => Readable.from([Buffer.from('<script>')]);
        return {
          name: 'ä "x".html',
          mime: 'text/html',
          bytes: 8,
          content,
          close: async () => void calls.push('closed'),
        };
      },
    },
    inbox: itemStore('inbox', calls),
    outbox: itemStore('outbox', calls),
    endpoints: {
      list: async ({ texts }) => ({
        endpoints: [
          { id: 'root/irc:irc~libera', name: 'irc~libera', state: 'online', ...(texts ? { nick: 'bot' } : {}) },
        ],
        total: 1,
      }),
      show: async (id, texts) => {
        if (!isKnownEndpoint(id)) throw new SvcError('not_found', 'there is no endpoint of this name');
        const view = { id: 'root/irc:irc~libera', state: 'online', ...(texts ? { nick: 'bot' } : {}) };
        return { endpoint: view, revision: '3' };
      },
      act: async (id, action, { revision }) => {
        if (!isKnownEndpoint(id)) throw new SvcError('not_found', 'there is no endpoint of this name');
        if (revision !== undefined && revision !== '3')
          throw new SvcError('precondition_failed', 'another revision is there');
        calls.push(`${action} ${id}`);
        return { id, state: action === 'disable' ? 'disabled' : 'connecting' };
      },
    },
    tasks: {
      page: async () => ({ items: [WAITING_TASK] }),
      cancel: async (id) => {
        if (id !== WAITING_TASK.id) throw new SvcError('not_found', 'no task waits under this id');
        calls.push(`cancel ${id}`);
        return WAITING_TASK;
      },
    },
    alerts: fakeAlerts(calls),
    jobs: fakeJobs(calls),
    checkpoints: fakeCheckpoints(calls),
    releases: FAKE_RELEASES,
    acceptance: {
      judge: async () => ACCEPTANCE,
      accept: async () => {
        calls.push('accept');
        return ACCEPTANCE;
      },
    },
    webhooks: {
      list: () => [WEBHOOK_ADDRESS],
      register: async (id) => {
        if (!isKnownEndpoint(id)) throw new SvcError('not_found', 'there is no endpoint of this name');
        calls.push(`register ${id}`);
        return { ...WEBHOOK_ADDRESS, done: 'registered' };
      },
    },
    events: eventGateway(streams),
    idempotency: {
      begin: async (key, route, digest) => {
        const kept = answers.get(key + route);
        if (kept === undefined) {
          answers.set(key + route, { digest });
          return { kind: 'new' };
        }
        if (kept.digest !== digest) return { kind: 'conflict' };
        return kept.answer === undefined ? { kind: 'running' } : { kind: 'known', ...kept.answer };
      },
      keeping: () => [],
      // oxlint-disable-next-line max-params -- as the port says
      finish: async (key, route, answer) => {
        answers.set(key + route, { digest: answers.get(key + route)?.digest ?? '', answer });
      },
      abandon: async (key, route) => void answers.delete(key + route),
    },
    chat: {
      say: async ({ delivery }) => {
        calls.push(`say ${delivery}`);
        return { id: 'm1', duplicate: false };
      },
      press: async ({ delivery }) => {
        calls.push(`press ${delivery}`);
        return { id: 'm1', duplicate: false };
      },
      messages: async ({ after = 0 }) => ({ messages: [], cursor: after, more: false, older: false }),
    },
    workroom: fakeWorkroom(),
    observe: (fact) => void observed.push(fact),
  };
  return host;
}

const isKnownEndpoint = (id: string): boolean => id === 'irc~libera' || id === 'root/irc:irc~libera';

function reportOf(ready: boolean): ReadinessReport {
  return {
    schema: 'svc.readiness/1',
    ready,
    state: ready ? 'ready' : 'not_ready',
    generation: 7,
    checkedAt: '2026-01-01T00:00:00.000Z',
    project: 'fake',
    version: '0.0.0',
    runtimeId: 'runtime-1',
    configVersion: 'sha256:0',
    ingress: 'open',
    checks: [],
  };
}

function itemStore(name: string, calls: string[]): ItemStore {
  const item = { id: '1', state: 'dead' };
  const known = (id: string): void => {
    if (id !== '1') throw new SvcError('not_found', 'there is no such item');
  };
  return {
    page: async ({ texts }) => ({ items: [texts ? { ...item, text: 'hello' } : item], total: 1 }),
    show: async (id, texts) => {
      known(id);
      return { item: texts ? { ...item, text: 'hello' } : item, revision: '5' };
    },
    replay: async (id) => {
      known(id);
      calls.push(`${name} replay`);
      return { ...item, state: 'received' };
    },
    hold: async (id, { reason }) => {
      known(id);
      calls.push(`${name} hold ${reason}`);
      return { ...item, state: 'dead' };
    },
    drop: async (id, { reason }) => {
      known(id);
      calls.push(`${name} drop ${reason}`);
      return { ...item, state: 'done' };
    },
    groups: async () => ({ groups: [], looked: 0, asOf: '2026-01-01T00:00:00.000Z' }),
    replayMany: async ({ code }) => {
      calls.push(`${name} replay all of ${code}`);
      return { done: 1, left: 0, skipped: 0 };
    },
    dropMany: async ({ code }, { reason }) => {
      calls.push(`${name} drop all of ${code} ${reason}`);
      return { done: 1, left: 0, skipped: 0 };
    },
  };
}

function eventGateway(streams: Set<ServerResponse>): EventGateway {
  const ended = new EventEmitter();
  return {
    stream: async ({ method }, response, { lastEventId, gap }) => {
      if (lastEventId !== undefined && gap === 'fail') throw new SvcError('history_expired', 'no longer kept');
      if (method === 'HEAD') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' }).end();
        return;
      }
      streams.add(response);
      response.once('close', () => {
        streams.delete(response);
        ended.emit('end');
      });
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store, no-transform',
      });
      response.write(`event: svc.hello\ndata: {"lastEventId":${JSON.stringify(lastEventId ?? null)}}\n\n`);
      await new Promise<void>((resolve) => response.once('close', () => resolve()));
    },
    page: async () => ({ items: [], position: 'abcdefgh12345678.42', epoch: 'abcdefgh12345678', oldest: 1, head: 42 }),
    // oxlint-disable-next-line max-params -- as the port says
    upgrade: async (_request, socket, _head, { actor }) => {
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Actor: ${actor}\r\n\r\n`,
      );
    },
    position: () => 'abcdefgh12345678.42',
    openStreams: () => streams.size,
    closeRevoked: () => {},
    drain: async () => {
      for (const response of streams) response.end();
    },
  };
}

/** One job, `tea`. */
