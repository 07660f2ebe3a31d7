// What `svc doctor --edge` concludes from an address that the host tells, and from a stream that was watched.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forwardedFinding } from '../../../supervisor/cli/doctor/edge/forwarded-check.ts';
import { idleFinding, type Watched } from '../../../supervisor/cli/doctor/edge/idle-check.ts';

const HELLO = 'retry: 2000\nevent: svc.hello\ndata: {"heartbeatMs":15000}\n\nevent: svc.live\ndata: {}\n\n';
const BEAT = ': \n\n';

describe('edge.forwarded', () => {
  it('faults an address that the client wrote itself, and a proxy that stands for all clients', () => {
    const cases = [
      ['192.0.2.77', '10.1.1.1'],
      ['192.0.2.77', '127.0.0.1'],
      ['127.0.0.1', '10.1.1.1'],
      ['::ffff:127.0.0.1', '2001:db8::1'],
      ['10.1.1.1', '10.1.1.1'],
      ['203.0.113.5', '10.1.1.1'],
      ['127.0.0.1', '127.0.0.1'],
    ] as const;

    assert.deepEqual(
      cases.map(([told, local]) => forwardedFinding(told, local).status),
      ['error', 'error', 'error', 'error', 'ok', 'ok', 'ok'],
    );
    assert.match(forwardedFinding('192.0.2.77', '10.1.1.1').reason, /wrote into X-Forwarded-For/);
    assert.match(forwardedFinding('127.0.0.1', '10.1.1.1').fix ?? '', /http\.trustedProxies: \[127\.0\.0\.1\]/);
  });
});

describe('edge.idle', () => {
  const watched = (facts: Partial<Watched>): Watched => ({
    status: 200,
    text: HELLO,
    isOpen: true,
    seconds: 40,
    ...facts,
  });
  const told = (facts: Partial<Watched>): string => {
    const { status, reason } = idleFinding(watched(facts));
    return `${status}: ${reason}`;
  };

  it('is content with a stream that is open after two heartbeats, comments or positions', () => {
    assert.equal(told({ text: HELLO + BEAT + BEAT }), 'ok: open for 40 s, over 2 heartbeats');
    const position = 'id: a.7\nevent: svc.bookmark\ndata: {"head":"a.7"}\n\n';
    assert.equal(told({ text: HELLO + BEAT + position }), 'ok: open for 40 s, over 2 heartbeats');
  });

  it('names a stream that was cut, and one whose heartbeats are kept back', () => {
    assert.equal(
      told({ isOpen: false, seconds: 10 }),
      'error: a stream without events ended after 10 s, with a heartbeat each 15 s',
    );
    assert.match(told({}), /^error: no heartbeat came in 40 s/);
  });

  it('says what a shorter look leaves open, and judges no host that restarts', () => {
    assert.match(
      told({ seconds: 20, text: HELLO + BEAT }),
      /^ok: open for 20 s, which is less .*--idle 40 tells more$/,
    );
    assert.match(told({ isOpen: false, text: `${HELLO}event: svc.drain\ndata: {}\n\n` }), /^skip: the host began/);
    assert.match(told({ status: 401, text: '' }), /^error: \/api\/events answered with 401/);
  });
});
