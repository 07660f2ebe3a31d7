// The written files of caddy, nginx and HAProxy before a whole host, over TLS: one suite for all three.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { call, callHttp2, type EdgeAddress, type EdgeCall } from './kit/edge-client.ts';
import {
  delivery,
  type EdgeHost,
  edgeDoctor,
  edgeHost,
  foundByDoctor,
  LARGEST_BYTES,
  storedIds,
} from './kit/edge-host.ts';
import { type Certificate, certificateIn, KINDS, proxiesMissing, temporaryFolder } from './kit/machine-proxies.ts';
import { type Recorder, sha256, startRecorder } from './kit/recorder.ts';
import { type WrittenProxy, withAllowList, writtenProxy } from './kit/written-proxy.ts';

/** Of 15 s each: 90 s in the long form. */
// biome-ignore lint/style/noProcessEnv: a switch of the test run
const HEARTBEATS = process.env['SVC_DEPLOY'] === 'long' ? 6 : 2;
/** The smallest buffer of the three. A proxy that fills one first would show nothing of so little. */
const BUFFER_BYTES = 4_096;
const BEAT = /^(?:: ?|event: svc\.bookmark)$/gmu;
const EVENTS = '/api/events';
const FORGED = '203.0.113.9';

const TARGETS = [
  '/api//x',
  '//api/x',
  '/a%2Fb%2fc',
  '/pub/..%2fapi/system/status',
  '/a/%2e%2e/b',
  '/a/../b',
  '/a/./b',
  '/%41%7E~',
  '/a;b=c/',
  '/x?y=%2F..&z=a+b%20c&y',
];

describe('a proxy as svc deploy init writes it', {
  skip: proxiesMissing(),
  timeout: 600_000,
  concurrency: true,
}, () => {
  const closing: (() => void | Promise<void>)[] = [];
  const cleanup = { after: (close: () => void | Promise<void>): void => void closing.unshift(close) };
  let certificate: Certificate;
  let host: EdgeHost;
  let recorder: Recorder;
  before(async () => {
    certificate = certificateIn(temporaryFolder(cleanup));
    recorder = await startRecorder(cleanup);
    host = await edgeHost(cleanup);
  });
  after(async () => {
    for (const close of closing) await close();
  });

  for (const kind of KINDS)
    describe(kind, { concurrency: true }, () => {
      let proxy: WrittenProxy;
      let toRecorder: EdgeAddress;
      let guarded: EdgeAddress;
      const ask = (asked: EdgeCall) => call(proxy.edge, asked);
      const askHost = (asked: EdgeCall) => call({ port: host.port }, asked);
      const recorded = async (mark: string, asked: EdgeCall) => {
        const { status } = await call(toRecorder, {
          ...asked,
          headers: { ...asked.headers, 'x-test': `${kind} ${mark}` },
        });
        assert.equal(status, 200, mark);
        const arrived = recorder.of(`${kind} ${mark}`);
        assert.ok(arrived);
        return arrived;
      };
      before(async () => {
        const common = { kind, certificate };
        const edit = withAllowList('127.0.0.3/32');
        const made = await Promise.all([
          writtenProxy(cleanup, { ...common, upstream: host.port }),
          writtenProxy(cleanup, { ...common, upstream: recorder.port }),
          writtenProxy(cleanup, { ...common, upstream: host.port, edit }),
        ]);
        [proxy, { edge: toRecorder }, { edge: guarded }] = made;
        const { status } = await proxy.toReady.waited(() => ask({ path: '/pub/ready' }));
        assert.equal(status, 200);
      });

      it('says what was typed, and how long it took from a host and the package of the proxy to an answer over TLS', (t) =>
        proxy.toReady.tell(t));

      it('lets a target, Authorization and a body through byte by byte', async () => {
        const targets = [];
        for (const target of TARGETS) targets.push((await recorded(target, { path: target })).target);
        assert.deepEqual(targets, TARGETS);

        const body = gzipSync(randomBytes(100_000));
        const headers = { authorization: 'bEARER  a b', 'content-encoding': 'gzip', 'content-type': 'text/plain' };
        const arrived = await recorded('body', { path: '/x', method: 'POST', body, headers });
        assert.equal(arrived.sha256, sha256(body));
        assert.deepEqual(
          Object.keys(headers).map((name) => arrived.headers[name]),
          Object.values(headers),
        );
        assert.equal(arrived.headers.host, `localhost:${toRecorder.port}`);
      });

      it('gives the answers of the host, for targets that can be read in two ways too', async () => {
        for (const path of [...TARGETS, '/api/system/status', '/', '/pub/health', '/nothing']) {
          const [direct, through] = [await askHost({ path }), await ask({ path })];
          assert.equal(through.status, direct.status, path);
        }
      });

      it('lets a signed webhook through, which is stored once', async () => {
        const sent = delivery(`signed-${kind}`, `Grüße – 你好 ${kind}`);
        assert.equal((await ask(sent)).status, 200);
        assert.equal((await ask({ ...sent, body: `${sent.body} ` })).status, 401);
        assert.equal((await ask(sent)).status, 200);
        assert.equal((await storedIds(host)).filter((id) => id === `signed-${kind}`).length, 1);
      });

      it('lets each event through by itself, over HTTP/1.1 and HTTP/2', async () => {
        const isHello = (text: string): boolean => text.includes('event: svc.live');
        const asked = { path: EVENTS, headers: host.bearer, until: isHello };
        const [one, two] = [await ask(asked), await callHttp2(proxy.edge, asked)];

        assert.deepEqual([one.status, two.status], [200, 200]);
        for (const { text } of [one, two]) assert.ok(text.length < BUFFER_BYTES, text);
        assert.match(one.headers['content-type'] ?? '', /^text\/event-stream/u);

        let posted = false;
        const following = await ask({
          ...asked,
          path: `${EVENTS}?types=inbox.received`,
          until: (text) => {
            if (isHello(text) && !posted) {
              posted = true;
              void ask(delivery(`event-${kind}`, 'an event'));
            }
            return text.includes('event: inbox.received');
          },
        });
        assert.ok(following.text.length < BUFFER_BYTES, following.text);
      });

      it('lets a WebSocket through', async () => {
        const socket = new WebSocket(`wss://localhost:${proxy.edge.port}/api/ws`, {
          ca: certificate.ca,
          headers: host.bearer,
          lookup: (_name, _options, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
        });
        const first = await new Promise<string>((resolve, reject) => {
          socket.once('message', (data) => resolve(String(data)));
          socket.once('error', reject);
        });
        socket.terminate();
        assert.match(first, /svc\.hello/u);
      });

      it('replaces the forwarded headers of a client by its address', async () => {
        const forged = {
          'x-forwarded-for': FORGED,
          'x-forwarded-proto': 'gopher',
          'x-forwarded-host': 'evil.example',
          'x-forwarded-port': '1',
          'x-real-ip': FORGED,
          forwarded: `for=${FORGED}`,
        };
        const { headers } = await recorded('forged', { path: '/x', headers: forged, from: '127.0.0.2' });
        assert.deepEqual(
          Object.keys(forged).map((name) => headers[name]),
          ['127.0.0.2', 'https', `localhost:${toRecorder.port}`, undefined, undefined, undefined],
        );

        const echo = { path: '/api/system/echo', method: 'POST', headers: { ...forged, ...host.bearer } };
        assert.equal(JSON.parse((await ask({ ...echo, from: '127.0.0.2' })).text).address, '127.0.0.2');
      });

      it('takes a body of 26 MiB, and says 413 to one that is told to be larger', async () => {
        const echo = { path: '/api/system/echo', method: 'POST', headers: host.bearer };
        const body = randomBytes(LARGEST_BYTES);
        // The host bounds the bytes of one address, and the three proxies take these bodies at one time.
        const address = `127.0.1.${KINDS.indexOf(kind) + 1}`;
        const taken = await ask({ ...echo, body, from: address });
        assert.deepEqual([taken.status, JSON.parse(taken.text).sha256], [200, sha256(body)]);

        const refused = await ask({ ...echo, announces: LARGEST_BYTES + 1 });
        assert.equal(refused.status, 413);
        assert.doesNotMatch(refused.headers['content-type'] ?? '', /problem/u, 'the proxy said so, not the host');

        const headers = { ...host.bearer, 'transfer-encoding': 'chunked' };
        const isTaken = await ask({ ...echo, headers, body: Buffer.alloc(LARGEST_BYTES + 1), from: address }).then(
          ({ status }) => status === 200,
          () => false, // cut while it was sent
        );
        assert.equal(isTaken, kind === 'haproxy', 'of unknown length');
      });

      it('asks browsers for TLS in each answer, sends plain HTTP to TLS, and keeps nothing', async () => {
        const status = { path: '/api/system/status', headers: host.bearer };
        const answers = [
          await ask(status),
          await ask(status),
          await ask({ path: '/api/system/status' }),
          await ask({ path: '/nothing' }),
          await ask({ path: '/x', method: 'POST', announces: LARGEST_BYTES + 1 }),
        ];
        assert.deepEqual(
          answers.map((answer) => answer.status),
          [200, 200, 401, 404, 413],
        );
        for (const { headers } of answers) assert.equal(headers['strict-transport-security'], 'max-age=31536000');
        const [first, second] = answers.map(({ headers }) => headers);
        assert.match(first?.['cache-control'] ?? '', /no-store/u);
        assert.deepEqual([first?.age, first?.['content-encoding']], [undefined, undefined]);
        assert.notEqual(first?.['x-request-id'], second?.['x-request-id']);

        const moved = await call(proxy.plain, { path: '/api//x?y=1' });
        assert.equal(moved.status, 308);
        assert.match(moved.headers.location ?? '', /^https:\/\/localhost(:\d+)?\/api\/\/x\?y=1$/u);
      });

      it('with its allow list shows strangers webhooks, files and probes alone', async () => {
        const stranger = (path: string) => call(guarded, { path, headers: host.bearer, from: '127.0.0.2' });
        const closed = ['/api/system/status', '/', '/API/system/status', '/plugins/x/y', '/files', '/webhooks'];
        const tricks = ['//pub/../api/system/status', '/api/..%2fpub/health', '/api/%2e%2e/pub/health'];
        for (const path of [...closed, ...tricks]) {
          const { status, headers } = await stranger(path);
          assert.deepEqual([status, headers['x-request-id']], [403, undefined], path);
        }
        for (const path of ['/pub/..%2fapi/system/status', '/pub/../api/system/status', '/webhooks/../api/config'])
          assert.equal((await stranger(path)).status, 400, path);
        for (const path of ['/pub/health', '/pub/ready', '/webhooks/webhook/shop', '/files/x']) {
          const [through, direct] = [await stranger(path), await askHost({ path })];
          assert.deepEqual([through.status, through.text === ''], [direct.status, direct.text === ''], path);
          if (path !== '/pub/health' && path !== '/pub/ready') assert.ok(through.headers['x-request-id'], path);
        }
        const inside = await call(guarded, { path: '/api/system/status', headers: host.bearer, from: '127.0.0.3' });
        assert.equal(inside.status, 200);
      });

      it(`keeps a stream without events open over ${HEARTBEATS} heartbeats`, async () => {
        const { status, text } = await ask({
          path: `${EVENTS}?types=runtime.started`,
          headers: host.bearer,
          until: (shown) => (shown.match(BEAT)?.length ?? 0) >= HEARTBEATS,
        });
        assert.equal(status, 200);
        assert.equal(text.match(BEAT)?.length, HEARTBEATS, text);
      });

      it('passes svc doctor --edge', async () => {
        const asked = { edge: proxy.edge, certificate };
        const [idle, found] = await Promise.all([
          edgeDoctor(host, { ...asked, ids: ['edge.idle'], idleSeconds: 32 }),
          foundByDoctor(host, asked, []),
        ]);

        assert.deepEqual(found, []);
        assert.match(
          idle.map(({ status, reason }) => `${status}: ${reason}`).join(),
          /^ok: open for \d+ s, over \d heartbeats$/u,
        );
      });
    });
});
