// A person at an IRC server: a plain socket that speaks the protocol, independent of the library that the adapter uses.
import { connect, type Socket } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

export interface IrcPerson {
  readonly nick: string;
  /** Every line of the server, oldest first. */
  readonly lines: readonly string[];
  raw(line: string): void;
  says(target: string, text: string): void;
  join(channel: string): Promise<void>;
  /** The texts of the messages that `from` sent to this target (this person, unless a channel is named). */
  heard(from: string, target?: string): readonly string[];
  quit(): Promise<void>;
}

export async function ircPerson(t: Cleanup, port: number, nick: string): Promise<IrcPerson> {
  const socket = connect({ port, host: '127.0.0.1' });
  const lines: string[] = [];
  let rest = '';
  const raw = (line: string): void => void socket.write(`${line}\r\n`);
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (text: string) => {
    const parts = (rest + text).split('\r\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      if (line.startsWith('PING ')) raw(`PONG ${line.slice(5)}`);
    }
  });
  t.after(() => void socket.destroy());
  raw(`NICK ${nick}`);
  raw(`USER ${nick} 0 * :${nick}`);
  await until(() => lines.some((line) => line.split(' ')[1] === '001'), { what: `${nick} to be welcomed` });

  const join = async (channel: string): Promise<void> => {
    raw(`JOIN ${channel}`);
    await until(() => lines.some((line) => line.includes(` 366 ${nick} ${channel}`)), {
      what: `${nick} to be in ${channel}`,
    });
  };
  const heard = (from: string, target = nick): readonly string[] =>
    lines.flatMap((line) => {
      const [, sender, to, text] = /^:([^!\s]+)\S* PRIVMSG (\S+) :(.*)$/.exec(line) ?? [];
      return sender === from && to === target && text !== undefined ? [text] : [];
    });
  return {
    nick,
    lines,
    raw,
    says: (target, text) => raw(`PRIVMSG ${target} :${text}`),
    join,
    heard,
    quit: () => quit(socket, raw),
  };
}

function quit(socket: Socket, raw: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    raw('QUIT :bye');
  });
}
