// Files that come over XMPP, from an address that somebody named: up to the limits of the account and of the host, from public addresses alone.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { fetchFile } from '../../../worker/adapters/xmpp/files/fetch-file.ts';
import { adapterLink } from '../../support/accounts/adapter-link.ts';
import { xmppAccount } from '../../support/accounts/xmpp-account.ts';

interface Limits {
  readonly ofAccount?: number;
  readonly ofHost?: number;
  readonly fileHosts?: string[];
}

async function serverAt(t: TestContext) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/moved') return void response.writeHead(302, { location: '/10' }).end();
    if (url === '/inside') return void response.writeHead(302, { location: `http://localhost:${port}/10` }).end();
    const bytes = Number(url.slice(1));
    if (bytes > 0) return void response.writeHead(200, { 'content-length': bytes }).end('x'.repeat(bytes));
    response.writeHead(200);
    const goOn = (): void => void (response.destroyed || response.write('x'.repeat(1_000), () => setImmediate(goOn)));
    goOn();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const fetched = async (path: string, { ofAccount, ofHost, fileHosts = ['127.0.0.1'] }: Limits = {}) => {
    const base = adapterLink(xmppAccount(1, { fileHosts, maxFileBytes: ofAccount ?? 1_000_000 }));
    t.after(() => base.stop());
    const link = Object.assign(Object.create(base) as typeof base, { maxFileBytes: ofHost ?? 1_000_000 });
    const file = { id: `http://127.0.0.1:${port}${path}`, name: 'a', mime: 'text/plain', bytes: 0 };
    return (await new Response(await fetchFile(file, link)).text()).length;
  };
  return { asked, fetched };
}

it('reads a file up to the smaller of both limits, and over redirects', async (t) => {
  const { fetched } = await serverAt(t);
  const tooLarge = { code: 'file_too_large' };

  assert.deepEqual([await fetched('/10', { ofAccount: 10 }), await fetched('/10', { ofHost: 10 })], [10, 10]);
  await assert.rejects(fetched('/10', { ofAccount: 9 }), tooLarge);
  await assert.rejects(fetched('/10', { ofHost: 9 }), tooLarge);
  await assert.rejects(fetched('/endless', { ofAccount: 5_000 }), tooLarge);
  await assert.rejects(fetched('/endless', { ofHost: 5_000 }), tooLarge);
  assert.equal(await fetched('/moved'), 10);
});

it('asks no address of this machine or network, also where a redirect leads there', async (t) => {
  const { asked, fetched } = await serverAt(t);

  await assert.rejects(fetched('/10', { fileHosts: [] }));
  await assert.rejects(fetched('/inside'));

  assert.deepEqual(asked, ['/inside']);
});
