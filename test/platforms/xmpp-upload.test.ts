// A file that goes to a server which refuses it before it has read it.
import { createServer } from 'node:net';
import { it } from 'node:test';
import { requestFile } from '../../worker/adapters/xmpp/file-request.ts';
import { until } from '../support/until.ts';

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

  await until(() => isEnded, { what: 'the end of the file', timeoutMs: 10_000 });
});
