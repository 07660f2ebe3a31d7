// What GitHub could not deliver, asked for again while the account stands and over thousands of deliveries.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { account as properties } from '../../../worker/adapters/github/config.ts';
import { createGithub } from '../../../worker/adapters/github/index.ts';
import { adapterBench, type Bench, type BenchOptions } from '../../../worker/testing/adapter-suite/adapter-bench.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { FakeGithub } from '../../support/fake-platforms/github.ts';
import { until } from '../../support/until.ts';

const HELLO = 'octo/hello';
const github = createGithub({ betweenMs: 0, lookMs: 20, recheckMs: 20 });

async function fakeWithHook(t: TestContext): Promise<FakeGithub> {
  const fake = await new FakeGithub({ 'ghp-bot': 'helper-bot' }).start(t);
  fake.remaining = 1_000_000;
  const config = { url: 'https://b.example/webhooks/bench' };
  fake.data.hooks.push({ id: 1, repository: HELLO, events: [], active: true, config });
  return fake;
}

const keysOf = (fake: FakeGithub) => ({ login: 'helper-bot', apiUrl: fake.url, repositories: [HELLO] });

async function scene(
  t: TestContext,
  options: BenchOptions = {},
): Promise<{ readonly fake: FakeGithub; readonly bench: Bench }> {
  const fake = await fakeWithHook(t);
  const account = { ...keysOf(fake), token: 'ghp-bot', secrets: ['a secret of it'] };
  const bench = adapterBench(github, account, options);
  t.after(() => bench.stop());
  return { fake, bench };
}

/** GitHub's ids have had 19 digits since February 2026. */
const BEFORE_FIRST = 3_804_004_623_172_239_365n;

/** Oldest first. */
function delivered(fake: FakeGithub, guid: string, status_code: number, agoMs = 0): void {
  const id = BigInt(fake.data.deliveries.at(-1)?.id ?? BEFORE_FIRST) + 1n;
  const delivered_at = new Date(Date.now() - agoMs).toISOString();
  fake.data.deliveries.push({ id, hook: 1, guid, status_code, delivered_at, event: 'issues' });
}
const askedFor = (fake: FakeGithub): readonly (string | undefined)[] =>
  fake.data.redelivered.map((id) => fake.data.deliveries.find((one) => one.id === id)?.guid);
const looks = (fake: FakeGithub): number => fake.requests.filter((one) => one.endsWith('/deliveries')).length;

describe('deliveries of GitHub that failed', () => {
  it('are found behind thousands that did not', async (t) => {
    const { fake, bench } = await scene(t);
    const HOUR_MS = 3_600_000;
    delivered(fake, 'lost', 502, 2 * HOUR_MS);
    for (let n = 0; n < 1_500; n += 1) delivered(fake, `taken ${n}`, 200, HOUR_MS);

    await bench.catchUp();

    assert.deepEqual(askedFor(fake), ['lost']);
  });

  it('are asked for while the account stands: one until it gets through, then the rest, each once', async (t) => {
    const { fake, bench } = await scene(t);
    let isReached = false;
    fake.data.reach = () => (isReached ? 200 : 502);
    await bench.catchUp();
    const connection = bench.connect();
    await connection.online;

    for (const guid of ['one', 'two', 'three']) delivered(fake, guid, 503);
    await until(() => fake.data.redelivered.length >= 2, { what: 'two tries' });
    const meanwhile = new Set(askedFor(fake));
    isReached = true;
    const ends = (): boolean => ['one', 'two', 'three'].every((guid) => isTaken(fake, guid));
    await until(ends, { what: 'all to be taken' });
    const { length } = fake.data.redelivered;
    const before = looks(fake);
    await until(() => looks(fake) > before + 2, { what: 'more looks' });
    await connection.close();

    assert.equal(meanwhile.size, 1, 'nobody is flooded who cannot be reached');
    assert.equal(fake.data.redelivered.length, length, 'what was taken is not asked for again');
  });

  it('are given up after some tries while others get through, and left where the host refused them', async (t) => {
    const { fake, bench } = await scene(t);
    fake.data.reach = () => 500;
    await bench.catchUp();
    const connection = bench.connect();
    await connection.online;

    delivered(fake, 'refused', 401);
    delivered(fake, 'poison', 500);
    const healthy = setInterval(() => delivered(fake, `fine ${fake.data.deliveries.length}`, 200), 1);
    t.after(() => clearInterval(healthy));
    await until(() => fake.data.redelivered.length >= 3, { what: 'three tries' });
    const before = looks(fake);
    await until(() => looks(fake) > before + 5, { what: 'more looks' });
    await connection.close();

    assert.deepEqual([...new Set(askedFor(fake))], ['poison']);
    assert.ok(fake.data.redelivered.length <= 6, `${fake.data.redelivered.length} tries`);
  });

  it('keep the cursor where what is left begins', async (t) => {
    const cursors: (string | undefined)[] = [];
    const { fake, bench } = await scene(t, {
      committed: { arrivals: [], cursor: new Date(Date.now() - 7_200_000).toISOString() },
      store: (commit) => {
        commit();
        cursors.push(bench.cursor);
      },
    });
    fake.data.reach = () => 502;
    delivered(fake, 'first', 502, 3_000_000);
    delivered(fake, 'second', 502, 2_000_000);
    const second = fake.data.deliveries.at(-1)?.delivered_at;

    const connection = bench.connect();
    await until(() => cursors.length > 1, { what: 'two looks' });
    await connection.close();

    assert.equal(cursors[0], second);
    assert.deepEqual(askedFor(fake).slice(0, 2), ['first', 'second']);
  });

  it('make the account degraded while GitHub does not say which, and it heals by itself', async (t) => {
    const fake = await fakeWithHook(t);
    const secret = (text: string) => ({ reveal: () => text });
    const link = adapterLink({ ...keysOf(fake), token: secret('ghp-bot'), secrets: [secret('a secret of it')] });
    t.after(() => link.stop());
    const ended = definitionOf(github, properties).connect?.(link);
    await until(() => link.isOnline, { what: 'the account to be online' });

    fake.misbehave = () => ({ status: 502, json: { message: 'Bad Gateway' } });
    await until(() => link.trouble !== undefined, { what: 'the trouble' });
    const { trouble } = link;
    fake.misbehave = undefined;
    await until(() => link.trouble === undefined, { what: 'the end of the trouble' });
    fake.misbehave = () => ({ status: 401, json: { message: 'Bad credentials' } });

    assert.match(trouble ?? '', /Bad Gateway/);
    await assert.rejects(ended ?? Promise.resolve(), { code: 'account_failed', remedy: /token/ });
  });
});

const isTaken = ({ data }: FakeGithub, guid: string): boolean =>
  data.deliveries.some((one) => one.guid === guid && one.status_code === 200);
