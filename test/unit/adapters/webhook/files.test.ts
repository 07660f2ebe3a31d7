// Files that signed webhooks name: fetched from public addresses, and from hosts that the account names.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { account as properties } from '../../../../worker/adapters/webhook/config.ts';
import { webhook } from '../../../../worker/adapters/webhook/index.ts';
import { adapterLink, definitionOf } from '../../../support/accounts/adapter-link.ts';

const definition = definitionOf(webhook, properties);
const SECRET = { reveal: () => `whsec_${Buffer.alloc(32, 1).toString('base64')}` };

async function serverAt(t: TestContext) {
  const asked: string[] = [];
  let connections = 0;
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(`${url} ${headers.authorization ?? ''}`);
    if (url === '/moved') return void response.writeHead(302, { location: '/a.txt' }).end();
    response.end('hello');
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const fetched = async (
    path: string,
    account: { readonly url?: string; readonly fileHosts?: string[] },
    scheme = 'http',
  ) => {
    const link = adapterLink({ secrets: [SECRET], ...account });
    t.after(() => link.stop());
    const file = { id: `${scheme}://127.0.0.1:${port}${path}`, name: 'a.txt', mime: 'text/plain', bytes: 0 };
    const body = await definition.fetchFile?.(file, link);
    return new Response(body).text();
  };
  return { asked, fetched, port, connections: () => connections };
}

it('are fetched from the host of the account and from fileHosts, without a secret', async (t) => {
  const { asked, fetched, port } = await serverAt(t);

  const texts = [
    await fetched('/a.txt', { url: `http://127.0.0.1:${port}/bot` }),
    await fetched('/a.txt', { fileHosts: ['127.0.0.1'] }),
  ];

  assert.deepEqual(
    [texts, asked],
    [
      ['hello', 'hello'],
      ['/a.txt ', '/a.txt '],
    ],
  );
});

it('of a webhook are fetched from no other address of this machine or network, and over no redirect', async (t) => {
  const { asked, fetched, port, connections } = await serverAt(t);

  await assert.rejects(fetched('/a.txt', {}), /fileHosts/);
  await assert.rejects(fetched('/a.txt', {}, 'https'), /fileHosts/);
  assert.equal(connections(), 0);
  await assert.rejects(fetched('/a.txt', { url: `http://127.0.0.1:${port + 1}/bot` }), /fileHosts/);
  await assert.rejects(fetched('/a.txt', { url: 'http://127.0.0.1/bot' }), /fileHosts/);
  await assert.rejects(fetched('/moved', { fileHosts: ['127.0.0.1'] }), /could not be fetched/);

  assert.deepEqual(asked, ['/moved ']);
});
