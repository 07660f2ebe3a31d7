// A small IRC server for load, in this process: registration, JOIN, PRIVMSG, PING. It gives each line a msgid, so that a test can tell in
// the bot's history which of its lines were stored. A real ngircd is used by test/process.
//
//   S1  Lines of people go out in order on the bot's newest connection; each is recorded with its connection.
//   S2  What the bot says is recorded before anything is answered.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Registration } from '../irc/irc-registration.ts';
import type { Cleanup } from '../temporary-project.ts';

export interface SaidLine {
  readonly msgid: string;
  readonly from: string;
  readonly text: string;
  /** Number of the connection that it was written to, and its place there. */
  readonly connection: number;
  readonly place: number;
}

export interface HeardLine {
  readonly target: string;
  readonly text: string;
  readonly stamp: number;
}

interface Connection {
  readonly number: number;
  readonly socket: Socket;
  readonly registration: Registration;
  places: number;
}

export class FakeIrcServer {
  readonly said: SaidLine[] = [];
  readonly heard: HeardLine[] = [];
  readonly #stamp: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #connections = 0;
  #current: Connection | undefined;

  constructor(stamp: () => number = () => 0) {
    this.#stamp = stamp;
    this.#server = createServer((socket) => this.#connect(socket));
  }

  async listen(t: Cleanup): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => this.cut());
  }

  /** Every connection ends, and none is taken any more. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The number of the connection over which the bot can be reached now. */
  get connection(): number | undefined {
    return this.#current?.number;
  }

  /** A person says something to the bot in private; undefined while the bot is not connected. */
  say(from: string, text: string, msgid: string): SaidLine | undefined {
    const bot = this.#current;
    if (bot === undefined || bot.socket.destroyed || !bot.registration.granted.has('message-tags')) return undefined;
    bot.places += 1;
    const line = { msgid, from, text, connection: bot.number, place: bot.places };
    this.said.push(line);
    bot.socket.write(`@msgid=${msgid} :${from}!${from}@test PRIVMSG ${bot.registration.nick} :${text}\r\n`);
    return line;
  }

  #connect(socket: Socket): void {
    const connection: Connection = {
      number: ++this.#connections,
      socket,
      registration: new Registration({ capabilities: ['message-tags'] }),
      places: 0,
    };
    this.#sockets.add(socket);
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('error', () => {}); // a killed bot: `close` follows
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#current === connection) this.#current = undefined;
    });
    socket.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#onLine(connection, line);
    });
  }

  #onLine(connection: Connection, line: string): void {
    const { socket, registration } = connection;
    const reply = (text: string): void => void socket.write(`${text}\r\n`);
    const [command = '', first = '', ...words] = line.split(' ');
    switch (command) {
      case 'JOIN':
        reply(`:${registration.nick}!svc@test JOIN ${first}`);
        reply(`:irc.test 366 ${registration.nick} ${first} :End of /NAMES list`);
        return;
      case 'PING':
        reply(`:irc.test PONG irc.test ${[first, ...words].join(' ')}`);
        return;
      case 'PRIVMSG':
        this.heard.push({ target: first, text: words.join(' ').replace(/^:/, ''), stamp: this.#stamp() });
        return;
      default:
        this.#register(connection, registration.take(line) ?? []);
    }
  }

  #register(connection: Connection, answers: readonly string[]): void {
    for (const answer of answers) connection.socket.write(`${answer}\r\n`);
    if (answers.length > 0 && connection.registration.isWelcomed) this.#current = connection;
  }
}
