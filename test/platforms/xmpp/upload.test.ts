// A file that goes to a server which refuses it before it has read it, and the way to the service that takes files.
import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { it, type TestContext } from 'node:test';
import { account as properties } from '../../../worker/adapters/xmpp/config.ts';
import { TIMING } from '../../../worker/adapters/xmpp/connection/session.ts';
import { requestFile } from '../../../worker/adapters/xmpp/files/file-request.ts';
import { createXmpp } from '../../../worker/adapters/xmpp/index.ts';
import { definitionOf } from '../../support/accounts/adapter-link.ts';
import { xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { fakeXmpp } from '../../support/fake-platforms/xmpp-server.ts';
import { until } from '../../support/until.ts';

const BYTES = 64 * 1_048_576;
const REFUSAL = 'HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

it('an upload that the server refuses in the middle ends the file that is read for it', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {}); // the rest of the upload
    socket.once('data', () => socket.end(REFUSAL, () => socket.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  let isEnded = false;
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      for (let left = BYTES; left > 0; left -= 65_536) yield new Uint8Array(65_536);
    } finally {
      isEnded = true;
    }
  }

  const upload = requestFile(
    {
      url: `http://${host}/put`,
      method: 'PUT',
      headers: {},
      body: { bytes: BYTES, content },
      signal: new AbortController().signal,
    },
    { fileHosts: [host], verifyCertificate: true },
  );
  await upload.then((answer) => answer.resume()).catch(() => {}); // the refusal, or that the connection was cut under it

  await until(() => isEnded, { what: 'the end of the file' });
});

/** Takes what is put there. */
async function fileServer(t: TestContext): Promise<{ readonly host: string; readonly put: readonly string[] }> {
  const put: string[] = [];
  const server = createHttpServer((request, response) => {
    put.push(`${request.method} ${request.url}`);
    request.resume().once('end', () => response.writeHead(201).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  return { host: `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, put };
}

it('an upload goes to the service that takes files, also while another one of the server is silent', async (t) => {
  const { host, put } = await fileServer(t);
  const DISCO = 'http://jabber.org/protocol/disco';
  const UPLOAD = 'urn:xmpp:http:upload:0';
  const server = await fakeXmpp(t, {
    answer: (stanza) => {
      const { name, attrs } = stanza;
      const { id, to } = attrs;
      const namespace = stanza.getChildElements()[0]?.getNS();
      if (name !== 'iq' || to === undefined) return undefined;
      const result = (inside: string): string => `<iq type='result' id='${id}' from='${to}'>${inside}</iq>`;
      const items = ['silent', 'upload'].map((one) => `<item jid='${one}.localhost'/>`).join('');
      if (namespace === `${DISCO}#items`) return result(`<query xmlns='${DISCO}#items'>${items}</query>`);
      if (to === 'silent.localhost') return '';
      if (to !== 'upload.localhost') return undefined;
      return namespace === `${DISCO}#info`
        ? result(`<query xmlns='${DISCO}#info'><feature var='${UPLOAD}'/></query>`)
        : result(`<slot xmlns='${UPLOAD}'><put url='http://${host}/a'/><get url='http://${host}/a'/></slot>`);
    },
  });
  const bot = await xmppBot(t, xmppAccount(server.port, { fileHosts: [host] }), {
    adapter: definitionOf(createXmpp({ ...TIMING, answerMs: 5_000 }), properties),
    files: { f: Uint8Array.of(1, 2, 3) },
  });

  const sent = await bot.send({
    kind: 'post',
    conversation: 'ann@localhost',
    files: [{ id: 'f', name: 'a.png', mime: 'image/png', bytes: 3 }],
  });

  assert.equal(sent.kind, 'sent');
  assert.deepEqual(put, ['PUT /a']);
});
