// The host's side of `svc doctor --endpoint`: bounded, whatever an adapter does, and nothing that was found is lost.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MOST_SKEW_MS, skewMs } from '../../../shared/time/clock-skew.ts';
import { type AccountToCheck, checkAccount } from '../../../worker/endpoints/account-check.ts';
import { accountFailed, type CheckResult, type CheckTools } from '../../../worker/sdk/index.ts';

type Check = (account: never, tools: CheckTools) => AsyncIterable<CheckResult>;
const OK: CheckResult = { name: 'token', status: 'ok', detail: 'of the bot' };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const run = (check: Check | undefined, more: Partial<AccountToCheck> = {}): Promise<readonly CheckResult[]> =>
  checkAccount({
    adapter: { name: 'test', ...(check === undefined ? {} : { check }) },
    account: {},
    endpoint: 'root/test:test',
    url: undefined,
    log: silent,
    mask: (text) => text.replaceAll('hunter2', '***'),
    ...more,
  });
const list = (found: readonly CheckResult[]): string[] => found.map(({ name, status }) => `${status} ${name}`);

describe('checkAccount', () => {
  it('ends with its time, and keeps what was found until then (ACCOUNT-CHECK-1)', async () => {
    const forever: Check = async function* (_account, { signal }) {
      yield OK;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise(() => {}); // does not hear the signal
    };
    const polite: Check = async function* (_account, { signal }) {
      yield OK;
      await sleep(600_000, undefined, { signal });
    };

    assert.deepEqual(list(await run(forever, { limitMs: 600 })), ['ok token', 'error time']);
    assert.deepEqual(list(await run(polite, { limitMs: 600 })), ['ok token', 'error time']);
  });

  it('tells what is thrown as a finding, behind what was found before it', async () => {
    const refused: Check = async function* () {
      yield OK;
      throw accountFailed('the token is old', 'make a new one');
    };
    const gone: Check = async function* () {
      yield OK;
      throw new Error('ECONNREFUSED');
    };

    assert.deepEqual((await run(refused))[1], {
      name: 'account',
      status: 'error',
      detail: 'the token is old',
      remedy: 'make a new one',
    });
    assert.deepEqual(list(await run(gone)), ['ok token', 'error platform']);
  });

  it('says of TLS that fails what mends it: the platform is up, and was reached', async () => {
    const remedyOf = async (text: string): Promise<string | undefined> => {
      const [, found] = await run(async function* () {
        yield OK;
        throw new Error(text);
      });
      return found?.remedy;
    };

    for (const text of [
      'self-signed certificate',
      'Telegram is not reached: DEPTH_ZERO_SELF_SIGNED_CERT',
      'unable to verify the first certificate',
      'auth.test: UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      "Hostname/IP does not match certificate's altnames: Host: a.example",
    ])
      assert.match((await remedyOf(text)) ?? '', /NODE_EXTRA_CA_CERTS/, text);
    for (const text of ['connection lost: TLS: wrong version number', 'info: EPROTO'])
      assert.match((await remedyOf(text)) ?? '', /speak TLS/, text);
    assert.match((await remedyOf('connect ECONNREFUSED 127.0.0.1:1')) ?? '', /is the platform up/);
  });

  it('finds that in what fetch throws, too', async (t) => {
    const server = createServer((_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as { readonly port: number };

    const [found] = await run(async function* () {
      await fetch(`https://127.0.0.1:${port}/`);
      yield OK;
    });

    assert.match(found?.remedy ?? '', /speak TLS/);
  });

  it('takes no check, and one that finds nothing, for no success (ACCOUNT-CHECK-2)', async () => {
    assert.deepEqual(list(await run(undefined)), ['error check']);
    assert.deepEqual(list(await run(async function* () {})), ['error check']);
  });

  it('masks secrets in all that is told, and knows no status but its own (ACCOUNT-CHECK-3)', async () => {
    const loud: Check = async function* () {
      yield { name: 'a', status: 'fine' as 'ok', detail: 'hunter2', remedy: 'not hunter2' };
      throw new Error('hunter2 again');
    };

    const found = await run(loud);

    assert.ok(!JSON.stringify(found).includes('hunter2'));
    assert.deepEqual(list(found), ['error a', 'error platform']);
  });

  it('compares clocks by what the platform told', async () => {
    const skewed = (byMs: number): Check =>
      async function* (_account, { clock }) {
        yield await clock(new Date(Date.now() + byMs));
      };

    assert.deepEqual(list(await run(skewed(0))), ['ok clock']);
    assert.deepEqual(list(await run(skewed(-60_000))), ['warn clock']);
    assert.deepEqual(list(await run(skewed(400_000))), ['error clock']);
  });
});

describe('skewMs', () => {
  it('is 0 for a time between question and answer, whole seconds included', () => {
    assert.equal(skewMs({ told: 9_000, askedAt: 9_990, answeredAt: 12_000 }), 0);
    assert.equal(skewMs({ told: 12_000, askedAt: 9_990, answeredAt: 12_000 }), 0);
  });

  it('is what lies outside', () => {
    assert.equal(skewMs({ told: 20_000, askedAt: 9_000, answeredAt: 10_000 }), 10_000);
    assert.ok(skewMs({ told: 1_000, askedAt: 9_000, answeredAt: 10_000 }) > MOST_SKEW_MS);
  });
});
