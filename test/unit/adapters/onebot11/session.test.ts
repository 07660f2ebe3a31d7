// A session of OneBot while its events cannot be stored: nothing more is read of it, and it is not taken for dead for that.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Channel } from '../../../../worker/adapters/onebot11/calls/channel.ts';
import { Session } from '../../../../worker/adapters/onebot11/calls/session.ts';
import type { Account } from '../../../../worker/adapters/onebot11/config.ts';
import { TIMING } from '../../../../worker/adapters/onebot11/timing.ts';
import { adapterLink } from '../../../support/accounts/adapter-link.ts';

class MemoryChannel implements Channel {
  readonly ended = new Promise<string>(() => {});
  readonly sent: string[] = [];
  isPaused = true;
  push: (text: string) => void = () => {};
  onMessage(take: (text: string) => void): void {
    this.push = take;
    this.isPaused = false;
  }
  send(text: string): void {
    this.sent.push(text);
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(): void {}
}

const HEARTBEAT = JSON.stringify({
  post_type: 'meta_event',
  meta_event_type: 'heartbeat',
  self_id: 1,
  interval: 5_000,
});
const line = (n: number): string =>
  JSON.stringify({ post_type: 'message', self_id: 1, user_id: 5, message_id: n, time: 1, message: `line ${n}` });

async function stuck(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const link = adapterLink({ catchUp: false } as Account, { store: () => gate });
  const session = new Session(link, TIMING);
  let lost: string | undefined;
  session.ended.catch((error: Error) => {
    lost = error.message;
  });
  const channel = new MemoryChannel();
  session.attach('universal', channel);
  channel.push(HEARTBEAT);
  for (let n = 0; !channel.isPaused; n += 1) channel.push(line(n));
  return { t, link, session, channel, release, lost: () => lost };
}

describe('a session of OneBot whose events cannot be stored', () => {
  it('is not lost for heartbeats that it does not read, and is for those that stay away once it reads again', async (t) => {
    const { channel, release, lost } = await stuck(t);

    t.mock.timers.tick(3_600_000);
    await turn();
    assert.equal(lost(), undefined);

    release();
    while (channel.isPaused) await turn();
    t.mock.timers.tick(14_000);
    await turn();
    assert.equal(lost(), undefined, 'it has its whole time again');
    t.mock.timers.tick(1_001);
    await turn();
    assert.match(lost() ?? '', /no heartbeat/);
  });

  it('reads no further from a socket that took the place of the one that stood', async (t) => {
    const { session, channel, release } = await stuck(t);
    const newer = new MemoryChannel();

    session.attach('universal', newer);
    assert.deepEqual([channel.isPaused, newer.isPaused], [true, true]);

    release();
    while (newer.isPaused) await turn();
  });
});
