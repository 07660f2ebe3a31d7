// Which address is the client's: forwarded ones count only from a proxy that is trusted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { startHttp } from '../../support/http/http-server.ts';

const READINESS = 'GET /api/system/readiness';
const full = `Authorization: Bearer ${FULL_TOKEN}`;

describe('the address of a client', () => {
  it('counts wrong tokens by the client behind a trusted proxy, right-most untrusted hop', async (t) => {
    const server = await startHttp(t, { failures: { limit: 2 }, trustedProxies: ['127.0.0.1'] });
    const wrong = async (forwarded: string): Promise<number> =>
      (await server.raw(READINESS, ['Authorization: Bearer wrong', `X-Forwarded-For: ${forwarded}`])).status;

    assert.deepEqual(
      [await wrong('10.0.0.1'), await wrong('1.1.1.1, 10.0.0.1'), await wrong('2.2.2.2, 10.0.0.1')],
      [401, 401, 429],
    );
    assert.equal(await wrong('10.0.0.1, 10.0.0.2'), 401);
  });

  it('tells by an echo which address it takes for the client, with and without a trusted proxy', async (t) => {
    const addresses = async (trustedProxies: readonly string[]): Promise<readonly unknown[]> => {
      const server = await startHttp(t, { trustedProxies });
      const told = async (...forwarded: readonly string[]): Promise<unknown> => {
        const { status, body } = await server.raw('POST /api/system/echo', [full, ...forwarded]);
        return status === 200 ? (JSON.parse(body) as { readonly address: unknown }).address : status;
      };
      return [
        await told(),
        await told('X-Forwarded-For: 192.0.2.77'),
        await told('X-Forwarded-For: 192.0.2.77, 198.51.100.1'),
        await told('Forwarded: for=192.0.2.77', 'X-Real-IP: 192.0.2.77'),
      ];
    };

    assert.deepEqual(await addresses([]), ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1']);
    assert.deepEqual(await addresses(['127.0.0.1']), ['127.0.0.1', '192.0.2.77', '198.51.100.1', '127.0.0.1']);
  });

  it('ignores forwarded addresses from a peer that is not trusted', async (t) => {
    const server = await startHttp(t, { failures: { limit: 1 } });
    const wrong = async (forwarded: string): Promise<number> =>
      (await server.raw(READINESS, ['Authorization: Bearer wrong', `X-Forwarded-For: ${forwarded}`])).status;

    assert.deepEqual([await wrong('10.0.0.1'), await wrong('10.0.0.2')], [401, 429]);
  });
});
