// What clients that others wrote say to the fakes, and what the fakes answer, is as it was recorded in test/support/fixtures/frames: neither a fake that
// bends to our own adapter nor a new version of a client passes unseen. And the fakes understand requests that were recorded without the client.
// A wanted change: run once with UPDATE_SNAPSHOTS=1 and read the difference like code.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { BOTS } from '../../support/frames/bots.ts';
import { PLATFORMS, type Platform } from '../../support/frames/clients.ts';
import { IRC_CLIENTS, ircSession } from '../../support/frames/irc-session.ts';
import { onebot11Http, onebot11Posts, onebot11Reverse } from '../../support/frames/onebot11.ts';
import { played } from '../../support/frames/player.ts';
import { type Recorded, Recorder } from '../../support/frames/recorder.ts';
import { slackSocket } from '../../support/frames/slack-socket.ts';
import { xmppSession } from '../../support/frames/xmpp-session.ts';

interface Recording {
  readonly client: string;
  readonly frames: readonly Recorded[];
}

const CLIENTS = { ...PLATFORMS, 'onebot11-http': onebot11Http };
const DELIVERED = { ...BOTS, onebot11: onebot11Posts };

const fileOf = (platform: string): URL => new URL(`../../support/fixtures/frames/${platform}.json`, import.meta.url);
const recordingOf = (platform: string): Recording => JSON.parse(readFileSync(fileOf(platform), 'utf8')) as Recording;

/** Today's as JSON has it; kept first where that is asked for. */
function keptOr(now: Recording, platform: string): unknown {
  const text = `${JSON.stringify(now, null, 2)}\n`;
  if (process.env['UPDATE_SNAPSHOTS'] === '1') writeFileSync(fileOf(platform), text);
  return JSON.parse(text);
}

async function record(t: TestContext, { client, start }: Platform): Promise<Recording> {
  const { session, ...options } = await start(t);
  const recorder = await Recorder.before(t, options);
  await session(recorder.address);
  return { client, frames: recorder.frames };
}

describe('recorded frames', { timeout: 590_000 }, () => {
  for (const platform of Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])
    describe(platform, () => {
      it('are what the client says today, and what the fake answers', async (t) => {
        const now = keptOr(await record(t, CLIENTS[platform]), platform);

        assert.deepEqual(now, recordingOf(platform));
      });

      if (platform === 'onebot11') return; // frames of a socket alone
      it('are understood by the fake without the client', async (t) => {
        const requests = recordingOf(platform).frames.filter((frame) => 'status' in frame);
        const { port, known, madeUp } = await CLIENTS[platform].start(t);

        const again = await played(requests, { port, known, ...(madeUp === undefined ? {} : { madeUp }) });

        assert.ok(again.length > 0);
        assert.deepEqual(again, requests);
      });
    });

  for (const [platform, bot] of Object.entries(DELIVERED))
    describe(`${platform}, delivering`, () => {
      it('are what the platform delivers today, and what a bot of others answers', async (t) => {
        const now = keptOr(await record(t, bot), `${platform}-deliveries`);

        assert.deepEqual(now, recordingOf(`${platform}-deliveries`));
      });
    });

  it("of Socket Mode are what Slack's own framework says today, and what the fake tells it", async (t) => {
    const now = keptOr(await record(t, slackSocket), 'slack-socket');

    assert.deepEqual(now, recordingOf('slack-socket'));
  });

  it('of a WebSocket that an implementation of OneBot opens are what it says today, and what a bot of others answers', async (t) => {
    const now = keptOr(await record(t, onebot11Reverse), 'onebot11-reverse');

    assert.deepEqual(now, recordingOf('onebot11-reverse'));
  });

  for (const name of IRC_CLIENTS)
    it(`of IRC are what ${name} says today, and what the fake answers`, async (t) => {
      const now = keptOr(await ircSession(t, name), `irc-${name}`);

      assert.deepEqual(now, recordingOf(`irc-${name}`));
    });

  it('of XMPP are what the library says today, and what the scripted server answers', async (t) => {
    const now = keptOr(await xmppSession(t), 'xmpp');

    assert.deepEqual(now, recordingOf('xmpp'));
  });
});
