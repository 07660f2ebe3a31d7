// The socket for the client library: already encrypted, decoded to whole characters, and bounded.
//
//   XMPP-SOCKET-1  STARTTLS happens before the library reads a byte, so nothing of the plain stream survives it.
//                  An account that requires TLS never logs in without it.
//   XMPP-SOCKET-2  The certificate must be valid for the account's domain, whatever host is connected to (RFC 7590).
//   XMPP-SOCKET-3  A stanza over MOST_STANZA_BYTES, or invalid XML, ends the connection and has no other effect.
import { EventEmitter } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { connect as connectTls } from 'node:tls';

/** Servers accept about 256 KiB from a client and 512 KiB from each other. */
const MOST_STANZA_BYTES = 2 * 1_024 * 1_024;
const MOST_GREETING_BYTES = 64 * 1_024;

export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: 'starttls' | 'direct' | 'none';
  readonly domain: string;
  readonly verifyCertificate: boolean;
  readonly timeoutMs: number;
}

/** Emits connect, data (text), error and close, as the library expects of a socket. */
export class XmppSocket extends EventEmitter {
  secure = false;
  #socket: Socket | undefined;
  #sinceStanza = 0;
  #isClosed = false;

  connect(target: SocketTarget): void {
    const { host, port, tls } = target;
    const timer = setTimeout(
      () => this.destroy(new Error(`no connection to ${host}:${port} within ${target.timeoutMs} ms`)),
      target.timeoutMs,
    );
    this.once('connect', () => clearTimeout(timer));
    this.once('close', () => clearTimeout(timer));
    if (tls === 'direct') return this.#encrypt(target, { host, port });
    const socket = connectTcp({ host, port });
    this.#watch(socket);
    socket.once('connect', () => {
      socket.setNoDelay(true);
      if (tls === 'none') this.#ready(socket);
      else this.#startTls(socket, target);
    });
  }

  write(text: string, done?: (error?: Error | null) => void): void {
    if (this.#socket === undefined || this.#isClosed) done?.(new Error('the connection is closed'));
    else this.#socket.write(text, done);
  }
  end(): void {
    this.#socket?.end();
  }
  destroy(error?: Error): void {
    if (this.#socket === undefined) this.#closed(error);
    else this.#socket.destroy(error);
  }
  pause(): void {
    this.#socket?.pause();
  }
  resume(): void {
    this.#socket?.resume();
  }
  /** A whole stanza was read. Restarts the count for MOST_STANZA_BYTES. */
  stanzaRead(): void {
    this.#sinceStanza = 0;
  }

  #startTls(socket: Socket, target: SocketTarget): void {
    let seen = '';
    let hasAsked = false;
    const onData = (chunk: Buffer): void => {
      seen += chunk.toString('latin1');
      if (seen.length > MOST_GREETING_BYTES) return void socket.destroy(new Error('a greeting without an end'));
      if (!hasAsked && /<\/(?:stream:)?features>/.test(seen)) {
        if (!seen.includes('urn:ietf:params:xml:ns:xmpp-tls'))
          return void socket.destroy(new Error('the server does not offer STARTTLS'));
        hasAsked = true;
        seen = '';
        socket.write("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>");
      } else if (hasAsked && /<proceed[\s/>]/.test(seen)) {
        socket.off('data', onData);
        socket.removeAllListeners();
        socket.on('error', () => {}); // the encrypted socket reports the error
        this.#encrypt(target, { socket });
      } else if (/<failure[\s/>]|<(?:stream:)?error[\s>]|<\/stream:stream>/.test(seen))
        socket.destroy(new Error(`the server refused STARTTLS${/host-unknown/.test(seen) ? ': host-unknown' : ''}`));
    };
    socket.on('data', onData);
    socket.write(
      `<?xml version='1.0'?><stream:stream to='${target.domain.replace(/[<>&'"]/g, '')}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>`,
    );
  }

  /** Starts TLS and verifies the certificate for the account's domain. */
  #encrypt(
    target: SocketTarget,
    over: { readonly socket: Socket } | { readonly host: string; readonly port: number },
  ): void {
    const { domain, verifyCertificate } = target;
    const secured = connectTls({
      ...over,
      ...(isIP(domain) === 0 ? { servername: domain } : {}),
      rejectUnauthorized: verifyCertificate,
      minVersion: 'TLSv1.2',
      ALPNProtocols: target.tls === 'direct' ? ['xmpp-client'] : [],
    });
    this.#watch(secured);
    secured.once('secureConnect', () => {
      secured.setNoDelay(true);
      this.secure = true;
      this.#ready(secured);
    });
  }

  #watch(socket: Socket): void {
    this.#socket = socket;
    socket.once('error', (error) => this.#closed(error));
    socket.once('close', () => this.#closed(undefined));
  }

  #ready(socket: Socket): void {
    const decoder = new StringDecoder('utf8');
    socket.on('data', (chunk: Buffer) => {
      this.#sinceStanza += chunk.length;
      if (this.#sinceStanza > MOST_STANZA_BYTES)
        return void socket.destroy(new Error(`a stanza of more than ${MOST_STANZA_BYTES} bytes`));
      try {
        this.emit('data', decoder.write(chunk));
      } catch (cause) {
        socket.destroy(new Error('the server sent what is no XML', { cause }));
      }
    });
    this.emit('connect');
  }

  #closed(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.destroy();
    if (error !== undefined) this.emit('error', error);
    this.emit('close', error !== undefined);
  }
}
