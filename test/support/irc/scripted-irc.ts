// An IRC server that does what a test says, for what a real one cannot be made to do: to keep silent, to refuse, to misbehave.

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { SelfSigned } from '../http/self-signed.ts';
import type { Cleanup } from '../temporary-project.ts';
import { Registration, type RegistrationOptions } from './irc-registration.ts';

export interface ScriptedIrc {
  readonly port: number;
  /** Every line of the client, oldest first. */
  readonly lines: readonly { readonly text: string }[];
  send(line: string): void;
  /** Ends every connection without a word. */
  cut(): void;
  /** Ends every connection with this line. */
  end(line: string): void;
}

export interface ScriptedIrcOptions {
  /** Lines that answer a line of the client, whose nick is the other; undefined: the usual ones. */
  readonly answer?: (line: string, nick: string) => readonly string[] | undefined;
  /** For what is usual. */
  readonly registration?: RegistrationOptions;
  /** Speaks TLS with this certificate. */
  readonly tls?: SelfSigned;
}

export async function scriptedIrc(
  t: Cleanup,
  { answer = () => undefined, registration, tls }: ScriptedIrcOptions = {},
): Promise<ScriptedIrc> {
  const lines: { text: string }[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const client = new Registration(registration);
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\r\n');
      rest = parts.pop() ?? '';
      for (const text of parts) {
        lines.push({ text });
        const usually = usual(text, client);
        for (const reply of answer(text, client.nick) ?? usually) socket.write(`${reply}\r\n`);
      }
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer({ ...tls }, serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  const send = (line: string): void => {
    for (const socket of sockets) socket.write(line);
  };
  const end = (line: string): void => {
    for (const socket of sockets) socket.end(`${line}\r\n`);
  };
  return { port: (server.address() as AddressInfo).port, lines, send, cut, end };
}

function usual(line: string, client: Registration): readonly string[] {
  const [command = '', ...words] = line.split(' ');
  const { nick } = client;
  if (command === 'JOIN') return channelsIn(line).flatMap((channel) => joined(channel, nick));
  if (command === 'PING') return [`:s PONG s ${words.join(' ')}`];
  return client.take(line) ?? [];
}

/** Of a JOIN: several may stand in one. */
export const channelsIn = (line: string): readonly string[] =>
  line.startsWith('JOIN ') ? (line.split(' ')[1]?.split(',') ?? []) : [];

export const joined = (channel: string, nick: string): readonly string[] => [
  `:${nick}!u@h JOIN ${channel}`,
  `:s 366 ${nick} ${channel} :End`,
];
