// The fake Slack, driven by Slack's own client: what the client sends is understood, and what is answered is what the client expects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WebClient } from '@slack/web-api';
import { WebSocket } from 'ws';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { withBolt } from '../../support/frames/slack-socket.ts';
import { until } from '../../support/until.ts';

const LINE = { channel: 'C123ABC456', ts: '1355517523.000005' };
const clientOf = (slack: FakeSlack): WebClient =>
  new WebClient(slack.botToken, {
    slackApiUrl: slack.apiUrl,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
  });

describe("the fake Slack, to Slack's own client", () => {
  it('takes messages, edits, reactions and deletions, with the errors of the platform', async (t) => {
    const slack = await FakeSlack.start(t);
    const client = clientOf(slack);

    assert.equal((await client.auth.test()).user_id, slack.workspace.bot);
    const posted = await client.chat.postMessage({ channel: LINE.channel, text: 'hello', thread_ts: LINE.ts });
    await client.chat.update({ channel: LINE.channel, ts: posted.ts ?? '', text: 'hello there' });
    await client.reactions.add({ channel: LINE.channel, timestamp: posted.ts ?? '', name: 'thumbsup' });
    const [message] = slack.workspace.messages;
    await client.chat.delete({ channel: LINE.channel, ts: posted.ts ?? '' });

    assert.deepEqual(
      {
        text: message?.text,
        thread: message?.thread,
        reactions: message?.reactions,
        left: slack.workspace.messages.length,
      },
      { text: 'hello there', thread: LINE.ts, reactions: ['thumbsup'], left: 0 },
    );
    await assert.rejects(client.chat.postMessage({ channel: 'C0ARCHIVED', text: 'x' }), /is_archived/);
    await assert.rejects(client.chat.delete({ channel: LINE.channel, ts: '1.2' }), /message_not_found/);
    await assert.rejects(new WebClient('xoxb-wrong', { slackApiUrl: slack.apiUrl }).auth.test(), /invalid_auth/);
  });

  it('keeps metadata of a message, and tells it to who asks', async (t) => {
    const client = clientOf(await FakeSlack.start(t));
    const metadata = { event_type: 'task_created', event_payload: { id: '11223' } };

    await client.chat.postMessage({ channel: LINE.channel, text: 'hello', metadata });
    const told = await client.conversations.history({ channel: LINE.channel, include_all_metadata: true });
    const untold = await client.conversations.history({ channel: LINE.channel });

    assert.deepEqual([told.messages?.[0]?.metadata, untold.messages?.[0]?.metadata], [metadata, undefined]);
  });

  it("takes files by the client's three steps, and hands them over to who may read them", async (t) => {
    const slack = await FakeSlack.start(t);
    const client = clientOf(slack);

    await client.filesUploadV2({
      channel_id: LINE.channel,
      filename: 'a.txt',
      content: 'the text',
      initial_comment: 'see',
    });
    const [message] = slack.workspace.messages;
    const info = await client.files.info({ file: message?.files[0] ?? '' });
    const address = info.file?.url_private_download ?? '';
    const read = async (token: string) =>
      (await fetch(address, { headers: { authorization: `Bearer ${token}` } })).text();

    assert.equal(message?.text, 'see');
    // The client sends a form with the bytes in it; the platform takes that and the bytes alone.
    assert.match(await read(slack.botToken), /the text/);
    assert.match(await read('xoxb-wrong'), /Sign in/);
  });

  it('asks the client to wait, and the client waits for as long', async (t) => {
    const slack = await FakeSlack.start(t);
    slack.next('chat.postMessage', { status: 429, headers: { 'retry-after': '30' } });

    await assert.rejects(clientOf(slack).chat.postMessage({ channel: LINE.channel, text: 'x' }), {
      code: 'slack_webapi_rate_limited_error',
      retryAfter: 30,
    });
  });

  it('opens a socket with the address that the client is given, once', async (t) => {
    const slack = await FakeSlack.start(t);
    const app = new WebClient(slack.appToken, { slackApiUrl: slack.apiUrl });
    const { url = '' } = await app.apps.connections.open({});

    const frames = await framesOf(url, 2, () => slack.push('events_api', slack.line('hello')));
    const refused = new WebSocket(url);
    await new Promise((resolve) => refused.once('error', resolve));

    assert.deepEqual(
      frames.map(({ type }) => type),
      ['hello', 'events_api'],
    );
    await assert.rejects(clientOf(slack).apps.connections.open({}), /not_allowed_token_type/);
  });
});

describe("Socket Mode of the fake, to Slack's own framework", () => {
  it('is renewed when it is asked to, and goes on', async (t) => {
    const slack = await FakeSlack.start(t);
    const heard: unknown[] = [];
    await withBolt({ fake: slack, againMs: 50 }, async (app) => {
      app.event('message', async ({ payload }) => {
        heard.push('text' in payload ? payload.text : undefined);
        await Promise.resolve();
      });
      await app.start();
      slack.push('events_api', slack.line('before'));
      await until(() => heard.length === 1, { what: 'the first line' });
      slack.disconnect('refresh_requested');
      await until(() => slack.opened === 2, { what: 'another socket' });
      slack.push('events_api', slack.line('after'));
      await until(() => heard.length === 2, { what: 'the second line' });
    });

    assert.deepEqual(heard, ['before', 'after']);
    assert.equal(slack.acknowledged.length, 2);
  });
});

async function framesOf(url: string, count: number, afterHello: () => void) {
  const socket = new WebSocket(url);
  const frames: { readonly type: string }[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => {
      frames.push(JSON.parse(String(data)) as { readonly type: string });
      if (frames.length === 1) afterHello();
      if (frames.length === count) resolve();
    });
  });
  socket.close();
  return frames;
}
