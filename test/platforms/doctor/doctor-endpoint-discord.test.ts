// `svc doctor --endpoint` for accounts of discord: what Discord tells of them, and that nothing is changed by asking.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask, PUBLIC, told } from '../../support/commands/doctor-endpoint.ts';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';

async function start(t: TestContext) {
  const platform = await FakeDiscord.start(t);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const token = '${DISCORD_TOKEN}';
  const asked = (more: object, env: object = {}) => {
    const endpoint = { id: 'main', token, applicationId: platform.world.application, apiUrl: platform.apiUrl, ...more };
    const plugins = { discord: { endpoints: [endpoint] } };
    return ask(t, { plugins, env: { DISCORD_TOKEN: platform.token, ...env } }, '--endpoint', 'discord~main', '--json');
  };
  return { platform, asked };
}

describe('svc doctor --endpoint discord', { timeout: 590_000 }, () => {
  it('tells whose token it is, which intents are on and how many sessions are left, by asking alone', async (t) => {
    const { platform, asked } = await start(t);

    const well = told(await asked({}));
    platform.world.flags = 0;
    platform.gateway.sessionsLeft = 3;
    platform.world.endpointUrl = `${PUBLIC}/webhooks/discord/main`;
    const ill = told(await asked({}));

    assert.deepEqual(well.list, ['ok token', 'ok intents', 'ok sessions', 'ok webhook', 'ok clock']);
    assert.deepEqual(ill.list, ['ok token', 'error intents', 'warn sessions', 'error webhook', 'ok clock']);
    assert.match(ill.of('intents').detail, /MESSAGE_CONTENT$/);
    assert.deepEqual(
      [platform.gateway.identifies, platform.calls.filter((call) => !/^(?:GET|HEAD) /.test(call))],
      [0, []],
    );
  });

  it('tells whether interactions come to this host, and can be verified', async (t) => {
    const { platform, asked } = await start(t);
    const interactions = { mode: 'interactions', publicKeys: [platform.publicKey] };
    platform.world.endpointUrl = `${PUBLIC}/webhooks/discord/main`;

    const well = told(await asked(interactions));
    platform.world.endpointUrl = null;
    const none = told(await asked({ ...interactions, publicKeys: ['ab'.repeat(32)] }));
    platform.world.endpointUrl = 'https://elsewhere.example/s3cret';
    const elsewhere = told(await asked(interactions));

    assert.deepEqual(well.list, ['ok address', 'ok token', 'ok key', 'ok webhook', 'ok clock']);
    assert.deepEqual(none.list, ['ok address', 'ok token', 'error key', 'error webhook', 'ok clock']);
    assert.equal(none.of('webhook').remedy, 'svc webhooks register discord~main');
    assert.match(elsewhere.of('webhook').detail, /another address than that of this host/);
    assert.doesNotMatch(JSON.stringify(elsewhere.list), /s3cret/);
  });

  it('is an error for a token that Discord refuses, and for one of another application', async (t) => {
    const { asked } = await start(t);

    const refused = await asked({}, { DISCORD_TOKEN: 'a-token-that-was-revoked-long-ago' });
    const other = told(await asked({ applicationId: '111111111111111111' }));

    assert.equal(refused.code, 1);
    assert.match(told(refused).of('account').remedy ?? '', /new token/);
    assert.match(other.of('token').detail, /the account of 111111111111111111/);
  });
});
