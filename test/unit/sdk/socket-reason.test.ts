// Why a connection broke, as people read it.
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { socketReason } from '../../../worker/sdk/platform/socket-reason.ts';

describe('socketReason', () => {
  it('says what TLS met at a port that speaks plainly, without the insides of OpenSSL', async (t) => {
    const server = createServer((socket) => void socket.on('error', () => {}).end('220 hello\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => void server.close());
    const { port } = server.address() as AddressInfo;

    const error = await new Promise<Error>((resolve) => connect(port, '127.0.0.1').once('error', resolve));

    assert.equal(socketReason(error), 'TLS: wrong version number');
    assert.equal(socketReason(new Error(`write EPROTO ${error.message}`)), 'TLS: wrong version number');
  });

  it('leaves what is said otherwise', () => {
    assert.equal(socketReason(new Error('self-signed certificate')), 'self-signed certificate');
  });
});
