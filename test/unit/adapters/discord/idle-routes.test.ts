import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REST, type ResponseLike, type RouteLike } from '@discordjs/rest';
import { IdleRoutes } from '../../../../worker/adapters/discord/idle-routes.ts';

const CLOSED = '900000000000000001';

/** Discord's own client; one channel is closed from its first call on. */
function restOf(): { readonly rest: REST; call(path: RouteLike): Promise<unknown> } {
  const rest = new REST({
    retries: 0,
    globalRequestsPerSecond: Number.POSITIVE_INFINITY,
    handlerSweepInterval: 0,
    hashSweepInterval: 0,
    makeRequest: async (url) => {
      const headers = url.includes(CLOSED)
        ? { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '60' }
        : {};
      return new Response('{}', {
        headers: { 'content-type': 'application/json', ...headers },
      }) as unknown as ResponseLike;
    },
  }).setToken('a token');
  const idle = new IdleRoutes(rest);
  return {
    rest,
    call: (path) => {
      idle.forget();
      return rest.post(path, { body: {} });
    },
  };
}

const message = (interaction: number): RouteLike => `/webhooks/800000000000000001/token-of-${interaction}`;

describe('routes of Discord that nobody calls any more', () => {
  it('are forgotten: each command that somebody gives has an address of its own', async () => {
    const { rest, call } = restOf();

    for (let n = 0; n < 1_000; n += 1) await call(message(n));

    assert.ok(rest.handlers.size <= 501, `${rest.handlers.size} are kept`);
  });

  it('are kept while Discord has closed them, however many others are called', async () => {
    const { rest, call } = restOf();
    await call(`/channels/${CLOSED}/messages`);
    const [closed] = rest.handlers.values();

    await Promise.all(Array.from({ length: 1_200 }, (_, n) => call(message(n))));
    for (let n = 0; n < 1_500; n += 1) await call(message(10_000 + n));

    assert.ok([...rest.handlers.values()].includes(closed as never), 'its limit is known');
    assert.ok(rest.handlers.size <= 2_500, `${rest.handlers.size} are kept`);
  });
});
