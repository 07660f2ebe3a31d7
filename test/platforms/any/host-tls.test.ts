// Every platform over TLS, as all of them are but those of the other tests: the built host, whose modules are loaded in ways of its own.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { COUNTING, configOf } from '../../kits/platforms/kit/host-config.ts';
import type { OpenPlatform, Platform } from '../../kits/platforms/kit/platform.ts';
import { platformsHere } from '../../kits/platforms/kit/platforms/table.ts';
import { runningHost } from '../../support/hosts/running-host.ts';
import { TlsFronts } from '../../support/http/tls-fronts.ts';
import { until } from '../../support/until.ts';

/** Its account, with each address behind TLS; undefined where the host calls nobody. */
async function fronted(t: TestContext, { open }: Platform, fronts: TlsFronts): Promise<OpenPlatform | undefined> {
  const platform = await open(t);
  const { account } = platform;
  if (account === undefined) return undefined;
  const behind: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(account))
    behind[key] = typeof value === 'string' ? await fronts.address(value) : value;
  if (typeof account['port'] === 'number') {
    behind['port'] = await fronts.port(account['port']);
    behind['tls'] = platform.slot === 'xmpp' ? 'direct' : true;
  }
  if (platform.reachedAt !== undefined)
    platform.reachedAt((await fronts.address(String(account['apiUrl']))).replace(/\/api\/?$/, ''));
  return JSON.stringify(behind) === JSON.stringify(account) ? undefined : { ...platform, account: behind };
}

it('hears and answers on every platform over TLS', { timeout: 300_000 }, async (t) => {
  const fronts = new TlsFronts(t);
  const found = await Promise.all(platformsHere().map((platform) => fronted(t, platform, fronts)));
  const platforms = found.filter((one) => one !== undefined);
  const names = platforms.map(({ slot, account }) => `${slot}~${account?.['id']}`);
  const { plugins } = configOf(platforms, { port: 0, forgetful: false });
  const host = await runningHost(t, {
    http: { publicUrl: 'https://bot.example' },
    plugins: plugins as Readonly<Record<string, unknown>>,
    env: Object.assign({}, ...platforms.map(({ env = {} }) => env)) as Record<string, string>,
    sources: { 'counting.mjs': COUNTING },
    processEnv: fronts.env,
  });
  const signal = AbortSignal.timeout(120_000);
  const to = {
    url: host.url.replace(/\/$/, ''),
    token: host.project.token,
    signal,
    transitMs: () => 0,
    isRepeated: () => false,
  };

  const heard = platforms.map(async (platform, n) => {
    const token = `T${n}X`;
    await platform.deliver({ token, text: `hello ${token}`, conversation: 1 }, to);
    await until(() => platform.answers(0).some((text) => text.includes(`${token} n1`)), {
      what: 'an answer',
    });
  });

  const ends = await Promise.allSettled(heard);

  const missing = ends.flatMap((end, n) => (end.status === 'rejected' ? [`${names[n]}: ${end.reason}`] : []));
  assert.deepEqual(missing, [], host.output().slice(-4_000));
  assert.ok(names.length >= 10, names.join(', '));
});
