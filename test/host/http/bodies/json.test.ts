// Hostile inputs 26 to 28: bodies of JSON that parsers read differently, or that would cost more than they are worth.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { usedHeap } from '../../../support/disk/held-bytes.ts';
import { FULL_TOKEN, WEBHOOK_SECRET } from '../../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../../support/http/http-server.ts';
import { requestText, sendRaw } from '../../../support/http/raw-http.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;

const ROUNDS = 20;
/** Two of the largest of them: of all rounds together no more is kept. */
const LARGEST_BYTES = 1_000_000;

async function stillServes(server: ServerUnderTest): Promise<void> {
  assert.equal((await server.raw('GET /pub/health')).status, 200);
  assert.equal((await put(server, '{"state":"open"}')).status, 200);
}

async function put(
  server: ServerUnderTest,
  body: string | Buffer,
  headers: readonly string[] = ['Content-Type: application/json'],
) {
  const bytes = Buffer.from(body);
  const head = requestText('PUT /api/system/ingress', [full, ...headers, `Content-Length: ${bytes.length}`]);
  return sendRaw(server.port, Buffer.concat([Buffer.from(head), bytes]));
}

const HOSTILE: Readonly<Record<string, string | Buffer>> = {
  'depth 100,000': '['.repeat(100_000),
  'depth 100,000 of objects': '{"a":'.repeat(100_000),
  'duplicate key': '{"state":"paused","state":"open"}',
  'duplicate key, escaped': '{"state":"paused","st\\u0061te":"open"}',
  'a number out of range': '{"state":1e999}',
  'a lone surrogate': '{"state":"open","reason":"\\ud800"}',
  'a lone surrogate in a key': '{"state":"open","\\udc00":1}',
  'a byte order mark': '\ufeff{"state":"open"}',
  'UTF-16': Buffer.from('{"state":"open"}', 'utf16le'),
  'UTF-8 that is none': Buffer.from([0x22, 0xc3, 0x28, 0x22]),
  'an overlong encoding': Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
  'no JSON': '{state:"open"}',
  'a trailing comma': '{"state":"open",}',
  'two documents': '{"state":"open"}{"state":"paused"}',
  NaN: '{"state":NaN}',
  'an unterminated string': '{"state":"open',
  'a control character': '{"state":"op\u0001en"}',
  null: 'null',
  'an array': '[]',
  'an unknown key': '{"state":"open","extra":1}',
  'a value not listed': '{"state":"ajar"}',
};

describe('JSON bodies over HTTP', () => {
  it('takes no content coding and no other media type', async (t) => {
    const server = await startHttp(t);
    const cases: readonly (readonly string[])[] = [
      ['Content-Type: application/json', 'Content-Encoding: gzip'],
      ['Content-Type: application/json', 'Content-Encoding: br'],
      ['Content-Type: application/json; charset=utf-16'],
      ['Content-Type: text/json'],
      ['Content-Type: multipart/form-data; boundary=a'],
      ['Content-Type: application/x-www-form-urlencoded'],
      [],
    ];
    for (const headers of cases) {
      assert.equal((await put(server, '{"state":"paused"}', headers)).status, 415, headers.join(' '));
    }
    assert.deepEqual(server.host.calls, []);
    assert.equal(
      (await put(server, '{"state":"open"}', ['Content-Type: application/json; charset=UTF-8'])).status,
      200,
    );
    await stillServes(server);
  });

  it('refuses hostile documents and changes nothing', async (t) => {
    const server = await startHttp(t);
    await put(server, '{"state":"open"}'); // loads the validator
    server.host.calls.length = 0;
    for (const [name, body] of Object.entries(HOSTILE)) {
      assert.equal((await put(server, body)).status, 400, name);
    }
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('keeps nothing of hostile documents', async (t) => {
    const server = await startHttp(t);
    const each = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) for (const body of Object.values(HOSTILE)) await put(server, body);
    };
    await each(3);
    let leastBytes = Number.POSITIVE_INFINITY;
    // What is kept of each grows each time; what the files before this one have left, and code that is compiled meanwhile, does not.
    for (let n = 0; n < 3 && leastBytes >= LARGEST_BYTES; n += 1) {
      const before = usedHeap();
      await each(ROUNDS);
      leastBytes = Math.min(leastBytes, usedHeap() - before);
    }

    assert.ok(leastBytes < LARGEST_BYTES, `${leastBytes} bytes more after ${ROUNDS} rounds`);
  });

  it('refuses a million keys', async (t) => {
    const server = await startHttp(t);
    const keys = (count: number): string =>
      `{${Array.from({ length: count }, (_, n) => `"${n.toString(36)}":0`).join(',')}}`;

    assert.equal((await put(server, keys(1_000_000))).status, 413);
    assert.equal((await put(server, keys(80_000))).status, 413);
    await stillServes(server);
  });

  it('says once what may stand where a word was not one of those', async (t) => {
    const server = await startHttp(t);
    const faultsOf = async (body: string): Promise<unknown> =>
      (JSON.parse((await put(server, body)).body) as { readonly details: { readonly faults: unknown } }).details.faults;

    assert.deepEqual(await faultsOf('{"state":"paused","mode":"queue"}'), ['/mode must be one of "park", "reject"']);
    assert.deepEqual(await faultsOf('{"state":"paused","mode":7}'), ['/mode must be one of "park", "reject"']);
    assert.deepEqual(await faultsOf('{"state":"paused","reason":7}'), ['/reason must be string']);
    assert.deepEqual(await faultsOf('{"state":"open","extra":1}'), [
      'the body must NOT have additional properties (an unknown key)',
    ]);
    assert.deepEqual(await faultsOf('[]'), ['the body must be object']);
  });

  it('refuses keys that reach a prototype, at every level', async (t) => {
    const server = await startHttp(t);
    const bodies = [
      '{"__proto__":{"polluted":1}}',
      '{"state":"open","__proto__":{"polluted":1}}',
      '{"state":"open","a":{"b":[{"__proto__":{"polluted":1}}]}}',
      '{"state":"open","constructor":{"prototype":{"polluted":1}}}',
      '{"state":"open","\\u005f_proto__":{"polluted":1}}',
    ];
    for (const body of bodies) assert.equal((await put(server, body)).status, 400, body);

    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('hands a signed webhook on byte by byte, whatever is in it', async (t) => {
    const server = await startHttp(t);
    const bodies: readonly Buffer[] = [
      Buffer.from('{"__proto__":{"polluted":1}}'),
      Buffer.from([0, 255, 10, 13, 10]),
      Buffer.from('\ufeff{ "a":1,"a":2 }'),
    ];
    for (const body of bodies) {
      let seen: Uint8Array | undefined;
      server.host.deliveries.deliver = async (delivery) => {
        seen = delivery.body;
        return { status: 200 };
      };
      const head = requestText('POST /webhooks/hook', [
        `X-Signature: ${WEBHOOK_SECRET}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ]);

      const { status } = await sendRaw(server.port, Buffer.concat([Buffer.from(head), body]));

      assert.equal(status, 200);
      assert.deepEqual(seen, body);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});
