// Twenty accounts of a platform that keeps connections, in one host: each at a Discord of its own, all with the same channel, the same people and ids.
// One cannot be reached, the token of one is refused, one never answers a post, one is cut: the others do not notice.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { freePort } from '../../support/free-port.ts';
import { COUNTING } from '../../support/hosts/counting-plugin.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const ACCOUNTS = 20;
const [UNREACHABLE, REFUSED, STUCK, CUT] = [1, 2, 4, 5] as const;

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly lastError: { readonly reason?: string; readonly remedy?: string } | null;
}

async function hostWithAccounts(t: TestContext) {
  const platforms: FakeDiscord[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) platforms.push(await FakeDiscord.start(t));
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const endpoints = platforms.map(({ world, apiUrl }, index) => ({
    id: `a${index}`,
    token: `\${TOKEN_${index}}`,
    applicationId: world.application,
    apiUrl: index === UNREACHABLE ? nowhere : apiUrl,
  }));
  const tokens = platforms.map(({ token }, index) => (index === REFUSED ? token.replace('fake', 'gone') : token));
  const host = await runningHost(t, {
    plugins: { discord: { endpoints }, counting: { use: './plugins/counting.mjs' } },
    env: Object.fromEntries(tokens.map((token, index) => [`TOKEN_${index}`, token])),
    sources: { 'counting.mjs': COUNTING },
  });
  const serving = platforms.filter((_, index) => index !== UNREACHABLE && index !== REFUSED);
  return { host, platforms, serving, healthy: serving.filter((one) => one !== platforms[STUCK]), tokens };
}

async function endpoint(host: RunningHost, index: number): Promise<Shown | undefined> {
  const { endpoints } = (await host.get('api/endpoints')) as { readonly endpoints: readonly Shown[] };
  return endpoints.find(({ name }) => name === `discord~a${index}`);
}

const allSaid = (platforms: readonly FakeDiscord[], text: string): Promise<unknown> =>
  until(() => platforms.every(({ world }) => world.said().includes(text)), { what: `"${text}" of each account` });

describe('twenty connected accounts of one platform in one host', { timeout: 590_000 }, () => {
  it('serves each by itself, whatever becomes of the others, and resumes each after a kill', async (t) => {
    const { host, platforms, serving, healthy, tokens } = await hostWithAccounts(t);
    const stuck = platforms[STUCK];
    assert.ok(stuck !== undefined);
    stuck.next(/^POST .*\/messages$/, 'hold');

    await until(() => serving.every(({ gateway }) => gateway.connections === 1), { what: 'a session of each' });
    await until(async () => (await endpoint(host, REFUSED))?.state === 'failed', { what: 'the refused one to fail' });
    await until(async () => (await endpoint(host, UNREACHABLE))?.lastError !== null, { what: 'an error of the other' });
    for (const platform of serving) platform.says('first');
    await allSaid(healthy, 'first is 1');
    await until(() => stuck.held > 0, { what: 'the post that is never answered' });
    platforms[CUT]?.gateway.cut();
    for (const platform of healthy) platform.says('second');
    await allSaid(healthy, 'second is 2');

    const refused = await endpoint(host, REFUSED);
    assert.match(refused?.lastError?.reason ?? '', /refuses the token/);
    assert.match(refused?.lastError?.remedy ?? '', /Reset Token/);
    assert.notEqual((await endpoint(host, UNREACHABLE))?.state, 'online');
    const resumed = serving.map(({ gateway }) => gateway.resumes);
    assert.deepEqual(
      resumed,
      serving.map((one) => (one === platforms[CUT] ? 1 : 0)),
      'the one that was cut, alone',
    );

    await host.stop('SIGKILL');
    for (const platform of healthy) platform.says('third');
    await host.start();
    await allSaid(healthy, 'third is 3');

    assert.deepEqual(
      healthy.map(({ world }) => world.said()),
      healthy.map(() => ['first is 1', 'second is 2', 'third is 3']),
    );
    assert.deepEqual(
      serving.map(({ gateway }) => [gateway.identifies, gateway.resumes]),
      serving.map((_, index) => [1, (resumed[index] ?? 0) + 1]),
      'no session began anew',
    );
    assert.deepEqual(stuck.world.said(), ['first is 1'], 'posted once, and its nonce kept it so');
    for (const token of tokens) assert.ok(!host.output().includes(token.split('.')[2] ?? token));
  });
});
