// What an error says: `fetch` puts why nothing came of a call into its cause, and an operator sees the text alone.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { messageOf } from '../../../shared/svc-error.ts';
import { freePort } from '../../support/free-port.ts';

const said = (call: Promise<unknown>): Promise<string> => call.then(() => 'nothing', messageOf);

async function served(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { readonly port: number };
  return `127.0.0.1:${port}/`;
}

describe('messageOf', () => {
  it('says why a fetch failed', async () => {
    const port = await freePort();

    assert.equal(
      await said(fetch(`http://127.0.0.1:${port}/`)),
      `fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
  });

  it('says why an answer ended before its end', async (t) => {
    const address = await served(
      t,
      createServer((_request, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('a', () => response.destroy());
      }),
    );

    assert.equal(
      await said(fetch(`http://${address}`).then((answer) => answer.text())),
      'terminated: other side closed',
    );
  });

  it('names what TLS said by its code: the text names memory and sources, another one each time', async (t) => {
    const address = await served(
      t,
      createServer((_request, response) => response.end()),
    );

    assert.match(await said(fetch(`https://${address}`)), /^fetch failed: (ERR_SSL_\w+|EPROTO)$/);
  });

  it('leaves alone what says it by itself, and takes any cause', () => {
    assert.equal(
      messageOf(new Error('the tracker is away', { cause: new Error('ECONNREFUSED') })),
      'the tracker is away',
    );
    assert.equal(messageOf(new TypeError('fetch failed')), 'fetch failed');
    assert.equal(messageOf(new TypeError('fetch failed', { cause: 'no' })), 'fetch failed');
    const several = Object.assign(new AggregateError([new Error('a'), new Error('b')]), { code: 'ECONNREFUSED' });
    assert.equal(messageOf(new TypeError('fetch failed', { cause: several })), 'fetch failed: ECONNREFUSED');
    assert.equal(messageOf('a text'), 'a text');
  });
});
