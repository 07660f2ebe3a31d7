// An app that is taken out of its workspace, or whose token is revoked: Slack tells, and the account fails before anything is to be sent.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { slack } from '../../../worker/adapters/slack/index.ts';
import type { RawRequest } from '../../../worker/sdk/index.ts';
import { adapterBench, type Bench, type Connection } from '../../../worker/testing/index.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { until } from '../../support/until.ts';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const REVOKED = { status: 200, body: '{"ok":false,"error":"token_revoked"}' };
/** The examples of Slack's documentation. */
const EVENTS = {
  app_uninstalled: { type: 'app_uninstalled' },
  tokens_revoked: { type: 'tokens_revoked', tokens: { oauth: ['UXXXXXXXX'], bot: ['UXXXXXXXX'] } },
};

function delivery(platform: FakeSlack, event: object): RawRequest {
  const at = Math.floor(Date.now() / 1_000);
  const wrapper = { team_id: platform.workspace.team, api_app_id: platform.workspace.app, type: 'event_callback' };
  const body = JSON.stringify({
    ...wrapper,
    token: 'XXYYZZ',
    event_id: 'EvXXXXXXXX',
    event_time: 1_234_567_890,
    event,
  });
  const signature = createHmac('sha256', SECRET).update(`v0:${at}:${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-slack-request-timestamp': String(at) };
  return {
    method: 'POST',
    path: '',
    query: {},
    headers: { ...headers, 'x-slack-signature': `v0=${signature}` },
    body: Buffer.from(body),
    receivedAt: at * 1_000,
  };
}

async function online(t: TestContext, mode: 'http' | 'socket') {
  const platform = await FakeSlack.start(t);
  const more = mode === 'http' ? { secrets: [SECRET] } : { appToken: platform.appToken };
  const bench: Bench = adapterBench(slack, { token: platform.botToken, mode, apiUrl: platform.apiUrl, ...more });
  t.after(() => bench.stop());
  const connection: Connection = bench.connect();
  await connection.online;
  return { platform, bench, connection, asked: () => platform.calls.filter(({ method }) => method === 'auth.test') };
}

describe('slack: a token that is revoked', { timeout: 590_000 }, () => {
  for (const [name, event] of Object.entries(EVENTS))
    it(`fails the account at ${name}, once Slack refuses the token`, async (t) => {
      const { platform, bench, connection } = await online(t, 'http');
      platform.next('auth.test', REVOKED);

      assert.equal((await bench.deliver(delivery(platform, event))).status, 200);

      await assert.rejects(connection.ended, { code: 'account_failed', remedy: /install the app/ });
      assert.deepEqual(
        bench.stored.map((one) => one.kind === 'other' && one.type),
        [name],
      );
    });

  it('goes on where the token is good all the same: another one was revoked, or it comes late', async (t) => {
    const { platform, bench, connection, asked } = await online(t, 'http');
    let isOver = false;
    connection.ended
      .catch(() => {})
      .then(
        () => (isOver = true),
        () => {},
      );

    await bench.deliver(delivery(platform, EVENTS.tokens_revoked));
    await until(() => asked().length === 2, { what: 'the question whose token it is' });
    platform.next('auth.test', REVOKED);
    assert.equal(isOver, false);
    await bench.deliver(delivery(platform, EVENTS.app_uninstalled));

    await assert.rejects(connection.ended, { code: 'account_failed' });
  });

  it('fails the account in mode socket, too', async (t) => {
    const { platform, connection } = await online(t, 'socket');
    platform.next('auth.test', REVOKED);

    const of = { team_id: platform.workspace.team, api_app_id: platform.workspace.app };
    platform.push('events_api', { ...of, type: 'event_callback', event_id: 'Ev1', event: EVENTS.app_uninstalled });

    await assert.rejects(connection.ended, { code: 'account_failed' });
  });
});
