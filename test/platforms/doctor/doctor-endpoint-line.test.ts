// `svc doctor --endpoint` for accounts of line: what LINE tells of them, and that nothing is changed by asking.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask, PUBLIC, told } from '../../support/commands/doctor-endpoint.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';

async function start(t: TestContext) {
  const platform = await FakeLine.start(t);
  const { url, token, secret } = platform;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
  const secrets = { channelAccessToken: '${LINE_TOKEN}', channelSecrets: ['${LINE_SECRET}'] };
  const plugins = { line: { endpoints: [{ id: 'shop', ...secrets, apiUrl: url, dataApiUrl: url }] } };
  const asked = (env: object = {}) =>
    ask(t, { plugins, env: { LINE_TOKEN: token, LINE_SECRET: secret, ...env } }, '--endpoint', 'line~shop', '--json');
  return { platform, asked };
}

describe('svc doctor --endpoint line', { timeout: 590_000 }, () => {
  it('tells whose token it is, where deliveries go and what is left of the quota, by asking alone', async (t) => {
    const { platform, asked } = await start(t);
    platform.channel.webhook = { endpoint: `${PUBLIC}/webhooks/line/shop`, active: true };

    const well = told(await asked());
    platform.channel.quota = 0;
    platform.channel.webhook = { endpoint: 'https://elsewhere.example/s3cret', active: true };
    const ill = told(await asked());
    platform.channel.webhook = { endpoint: `${PUBLIC}/webhooks/line/shop`, active: false };
    const off = told(await asked());
    platform.channel.webhook = undefined;
    const none = told(await asked());

    assert.deepEqual(well.list, ['ok address', 'ok token', 'ok webhook', 'ok quota', 'ok clock']);
    assert.deepEqual(ill.list, ['ok address', 'ok token', 'error webhook', 'error quota', 'ok clock']);
    assert.deepEqual(
      [ill, off, none].map(({ of }) => of('webhook').detail),
      [
        'LINE delivers to elsewhere.example, not to this host',
        '"Use webhook" is off: nothing is delivered',
        'LINE knows no address: nothing is delivered',
      ],
    );
    assert.equal(none.of('webhook').remedy, 'svc webhooks register line~shop');
    assert.deepEqual(
      platform.calls.filter(({ route }) => !/^(?:GET|HEAD) /.test(route)),
      [],
    );
  });

  it('is an error for a token that LINE refuses', async (t) => {
    const { asked } = await start(t);

    const refused = await asked({ LINE_TOKEN: 'a-token-that-was-revoked' });

    assert.equal(refused.code, 1);
    assert.match(told(refused).of('account').remedy ?? '', /issue a channel access token/);
  });
});
