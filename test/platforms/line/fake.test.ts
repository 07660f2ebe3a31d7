// The fake LINE, driven by LINE's own client: what the client sends is understood, and what is answered is what the client expects.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { HTTPFetchError, messagingApi, validateSignature } from '@line/bot-sdk';
import { ANN, BEN, GROUP, SIGNED } from '../../support/accounts/line-examples.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';

const clientOf = ({ url, token }: FakeLine): messagingApi.MessagingApiClient =>
  new messagingApi.MessagingApiClient({ channelAccessToken: token, baseURL: url });
const told = (status: number, body: RegExp) => (error: unknown) =>
  error instanceof HTTPFetchError && error.status === status && body.test(error.body);

describe("the fake LINE, to LINE's own client", () => {
  it('takes pushes once a retry key, and tells of the first when it comes again', async (t) => {
    const line = await FakeLine.start(t);
    const client = clientOf(line);
    const push = { to: ANN, messages: [{ type: 'text' as const, text: 'Hello, world1' }] };
    const key = randomUUID();

    const { httpResponse, body } = await client.pushMessageWithHttpInfo(push, key);
    const again = await client.pushMessageWithHttpInfo(push, key).catch((error: unknown) => error);
    await client.pushMessage(push, randomUUID());

    assert.ok(again instanceof HTTPFetchError);
    assert.equal(again.status, 409);
    assert.equal(again.headers.get('x-line-accepted-request-id'), httpResponse.headers.get('x-line-request-id'));
    assert.deepEqual(JSON.parse(again.body), {
      message: 'The retry key is already accepted',
      sentMessages: body.sentMessages,
    });
    assert.equal(line.channel.messages.length, 2);
  });

  it('refuses what the reference refuses', async (t) => {
    const line = await FakeLine.start(t);
    const client = clientOf(line);
    const text = (text: string): messagingApi.Message => ({ type: 'text', text });
    const flex = (label: string): messagingApi.Message => ({
      type: 'flex',
      altText: 'x',
      contents: {
        type: 'bubble',
        body: {
          type: 'box',
          layout: 'vertical',
          contents: [{ type: 'button', action: { type: 'postback', label, data: 'x' } }],
        },
      },
    });

    await assert.rejects(client.pushMessage({ to: 'nobody', messages: [text('x')] }), told(400, /'to'/));
    await assert.rejects(client.pushMessage({ to: ANN, messages: Array(6).fill(text('x')) }), told(400, /Size must/));
    await assert.rejects(client.pushMessage({ to: ANN, messages: [text('x'.repeat(5_001))] }), told(400, /Length/));
    await assert.rejects(client.pushMessage({ to: ANN, messages: [text('')] }), told(400, /May not be empty/));
    await assert.rejects(client.pushMessage({ to: ANN, messages: [text('x')] }, 'no-uuid'), told(400, /retry key/));
    await assert.rejects(client.pushMessage({ to: ANN, messages: [flex('x'.repeat(41))] }), told(400, /label/));
    await assert.rejects(
      new messagingApi.MessagingApiClient({ channelAccessToken: 'wrong', baseURL: line.url }).getBotInfo(),
      told(401, /Authentication failed/),
    );
    line.channel.quota = 0;
    assert.deepEqual(await client.getMessageQuota(), { type: 'limited', value: 0 });
    assert.deepEqual(await client.getMessageQuotaConsumption(), { totalUsage: 0 });
    await assert.rejects(client.pushMessage({ to: ANN, messages: [text('x')] }), told(429, /monthly limit/));
    assert.equal(line.channel.messages.length, 0);
  });

  it('takes mentions in groups of who is there, and quotes in their own chat', async (t) => {
    const line = await FakeLine.start(t);
    line.channel.groups.set(GROUP, [ANN]);
    const client = clientOf(line);
    const mention = (userId: string): messagingApi.Message => ({
      type: 'textV2',
      text: 'Hi {who}, {{braces}}',
      substitution: { who: { type: 'mention', mentionee: { type: 'user', userId } } },
    });

    const { sentMessages } = await client.pushMessage({ to: GROUP, messages: [mention(ANN)] });
    const quoteToken = sentMessages[0]?.quoteToken ?? '';
    await client.pushMessage({ to: GROUP, messages: [{ type: 'text', text: 'quoting', quoteToken }] });

    await assert.rejects(client.pushMessage({ to: GROUP, messages: [mention(BEN)] }), told(400, /not in the chat/));
    await assert.rejects(client.pushMessage({ to: ANN, messages: [mention(ANN)] }), told(400, /not in the chat/));
    await assert.rejects(
      client.pushMessage({ to: ANN, messages: [{ type: 'text', text: 'x', quoteToken }] }),
      told(400, /quote token/),
    );
  });

  it('knows the bot, people, the address and the loading animation', async (t) => {
    const line = await FakeLine.start(t);
    line.channel.names.set(ANN, 'Ann');
    const client = clientOf(line);

    await assert.rejects(client.getWebhookEndpoint(), told(404, /not found/));
    await assert.rejects(client.setWebhookEndpoint({ endpoint: 'http://example.com' }), told(400, /Invalid/));
    await client.setWebhookEndpoint({ endpoint: 'https://127.0.0.1:1/webhooks/line/x' });
    const tested = await client.testWebhookEndpoint({});
    await client.showLoadingAnimation({ chatId: ANN, loadingSeconds: 20 });

    assert.equal((await client.getBotInfo()).userId, line.channel.bot);
    assert.equal((await client.getProfile(ANN)).displayName, 'Ann');
    assert.equal((await client.getWebhookEndpoint()).active, true);
    assert.deepEqual([tested.success, tested.reason], [false, 'COULD_NOT_CONNECT']);
    assert.deepEqual(line.channel.loading, [ANN]);
  });

  it('hands over what people sent, once it is prepared', async (t) => {
    const line = await FakeLine.start(t);
    line.keep('325708', Buffer.from('the video'), { type: 'video/mp4', preparing: 1 });
    const blobs = new messagingApi.MessagingApiBlobClient({ channelAccessToken: line.token, baseURL: line.url });

    const before = await blobs.getMessageContentTranscodingByMessageId('325708');
    const after = await blobs.getMessageContentTranscodingByMessageId('325708');
    const chunks: Buffer[] = [];
    for await (const chunk of await blobs.getMessageContent('325708')) chunks.push(chunk as Buffer);

    assert.deepEqual([before.status, after.status], ['processing', 'succeeded']);
    assert.equal(Buffer.concat(chunks).toString(), 'the video');
  });

  it("signs so that LINE's own check holds", () => {
    const line = new FakeLine();
    const body = JSON.stringify(line.says('hello', { user: ANN }));
    const signature = line.signed(body)['x-line-signature'] ?? '';

    assert.ok(validateSignature(body, line.secret, signature));
    assert.ok(!validateSignature(`${body} `, line.secret, signature));
    assert.equal(line.signed(SIGNED.body, SIGNED.secret)['x-line-signature'], SIGNED.signature, 'as it is printed');
  });
});
