// The wait that LINE asks for, where calls run beside each other and the clock of the machine is set.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Answer, call } from '../../../../worker/adapters/line/client.ts';
import type { Account } from '../../../../worker/adapters/line/config.ts';

const refusal = (): Promise<never> =>
  Promise.reject(
    Object.assign(new Error('429'), {
      status: 429,
      headers: new Headers(),
      body: '{"message":"The API rate limit has been exceeded. Try again later."}',
    }),
  );

function account() {
  const caller = {
    account: {
      channelAccessToken: { reveal: () => 'token' },
      channelSecrets: [],
      apiUrl: 'http://127.0.0.1:1',
      dataApiUrl: 'http://127.0.0.1:1',
    } as Account,
    signal: new AbortController().signal,
  };
  return (run: () => Promise<unknown>): Promise<Answer<unknown>> => call(caller, 'push', run);
}

describe('the wait that LINE asks for', () => {
  it('is not over because a call was taken that had begun before it', async () => {
    const push = account();
    let take = (): void => {};
    const early = push(
      () =>
        new Promise<void>((resolve) => {
          take = resolve;
        }),
    );
    assert.equal((await push(refusal)).kind, 'later');
    take();
    await early;

    assert.equal((await push(async () => 'taken')).kind, 'later');
  });

  it('is no longer when the clock is set back', async (t: TestContext) => {
    const push = account();
    await push(refusal);
    t.mock.method(Date, 'now', () => 1);

    const next = await push(async () => 'taken');

    assert.ok(next.kind === 'later' && next.afterMs <= 5_000 && Number.isInteger(next.afterMs), JSON.stringify(next));
  });
});
