// One connection to one server, from socket to end.
//
//   IRC-SESSION-1  `run` resolves when the link's signal ends the connection, and throws when it is lost. The account is `online` once nick and
//                  channels are settled. The account is `degraded` while a channel is not joined or missed messages are outstanding.
//   IRC-SESSION-2  While the wanted nick is in use, an alternate is used. The wanted nick is regained as soon as it is free, and the service login is
//                  repeated.
//   IRC-SESSION-3  A refusal of the account itself (password, SASL, service, ban, invalid nick) throws `accountFailed`, to avoid a loop.
import type { Client, IrcLine } from 'irc-framework';
import type { Link, SendResult } from '../../../sdk/index.ts';
import { ArrivalQueue } from '../arrival-queue.ts';
import type { Account } from '../config.ts';
import { Confirmations, isError, refusalOf } from '../confirmations.ts';
import { CAPABILITY, History } from '../history.ts';
import { arrivalOf } from '../parse.ts';
import { Posting } from '../posting.ts';
import { Channels } from './channels.ts';
import { NickKeeper } from './nick-keeper.ts';
import { afterRefusal, clientOptions, connectionLost, saslError } from './registration.ts';
import { ServiceLogin } from './service-login.ts';
import { Silence } from './silence.ts';
import { Standing } from './standing.ts';
import type { SessionTiming } from './timing.ts';

export interface SessionOptions {
  readonly client: Client;
  readonly link: Pick<Link<Account>, 'account' | 'signal' | 'log' | 'cursor' | 'online' | 'degraded' | 'receive'>;
  readonly timing: SessionTiming;
  /** Unique among the connections of an account. Part of generated ids, for lines without an id of the server. */
  readonly epoch: string;
}

const QUIT_MS = 2_000;
/** Refusals of the wanted nick. Such a numeric looks like the refusal of a message to that nick. */
const OF_NICK: ReadonlySet<string> = new Set(['432', '433', '436']);

export class IrcSession {
  readonly #client: Client;
  readonly #link: SessionOptions['link'];
  readonly #timing: SessionTiming;
  readonly #epoch: string;
  readonly #queue: ArrivalQueue;
  readonly #confirmations: Confirmations;
  readonly #timers = new Timers();
  readonly #silence: Silence;
  readonly #channels: Channels;
  readonly #history: History;
  readonly #login: ServiceLogin;
  readonly #nick: NickKeeper;
  readonly #posting: Posting;
  readonly #standing: Standing;
  #end: (error?: Error) => void = () => {};
  #isConnected = false;
  #isRegistered = false;
  #isLoggedIn = false;
  #hasEnded = false;
  #nicksTried = 0;
  #lastWords: string | undefined;
  #lines = 0;

  constructor({ client, link, timing, epoch }: SessionOptions) {
    this.#client = client;
    this.#link = link;
    this.#timing = timing;
    this.#epoch = epoch;
    this.#standing = new Standing(link);
    this.#confirmations = new Confirmations({ limitMs: timing.confirmMs, lower: (text) => client.caseLower(text) });
    const common = {
      account: link.account,
      log: link.log,
      lower: (text: string) => client.caseLower(text),
      raw: (line: string) => this.#raw(line),
      after: (delayMs: number, run: () => void) => this.#timers.after(delayMs, run),
    };
    this.#channels = new Channels({ ...common, standing: (trouble) => this.#standing.told('channels', trouble) });
    this.#login = new ServiceLogin({ ...common, limitMs: timing.identifyMs });
    this.#nick = new NickKeeper({
      ...common,
      current: () => client.user.nick,
      regained: () => void this.#logIn().catch((error: unknown) => this.#end(asError(error))),
    });
    this.#posting = new Posting({
      ...common,
      confirmations: this.#confirmations,
      flood: { burst: link.account.burstLines, perSecond: link.account.linesPerSecond },
      nick: () => client.user.nick,
      isOpen: () => this.#isOpen,
      flowing: () => this.#queue.flowing,
      isMissing: (target) => this.#channels.isMissing(target),
    });
    this.#history = new History({
      ...common,
      cursor: link.cursor,
      limitMs: timing.historyMs,
      push: (arrival) => this.#queue.push(arrival),
      trouble: (reason) => this.#standing.told('history', reason),
      note: (cursor) => void link.receive([], cursor).catch(() => {}), // a lost write is safe: the next message stores a cursor, too
    });
    this.#queue = new ArrivalQueue({
      store: (arrivals) => link.receive(arrivals, this.#history.cursorAfter(arrivals)),
      pause: () => this.#reading(false),
      resume: () => this.#reading(true),
      log: link.log,
    });
    this.#silence = new Silence({
      ...timing,
      after: common.after,
      ping: () => this.#raw('PING :svc-reads-later'),
      lost: (error) => this.#end(error),
    });
  }

  /** Resolves when the link's signal ends the connection, throws when it is lost. */
  async run(): Promise<void> {
    const ended = new Promise<Error | undefined>((resolve) => {
      this.#end = resolve;
    });
    const stop = (): void => this.#quit();
    this.#link.signal.addEventListener('abort', stop, { once: true });
    this.#connect();
    if (this.#link.signal.aborted) stop();

    const error = await ended;

    this.#hasEnded = true;
    this.#link.signal.removeEventListener('abort', stop);
    this.#release();
    this.#history.end();
    await this.#queue.close();
    if (error !== undefined && !this.#link.signal.aborted) throw error;
  }

  /** Throws if lines were written and the server did not confirm them. */
  post(key: string, target: string, text: string): Promise<SendResult> {
    return this.#posting.post(key, target, text);
  }

  /** The last step reached, for a connection that ended before registration. */
  get reached(): string {
    const { server, port, tls } = this.#link.account;
    if (this.#isConnected) return `connected to ${server}:${port}, which welcomes nobody`;
    return `no connection${tls ? ' over TLS' : ''} to ${server}:${port}`;
  }

  #connect(): void {
    const client = this.#client;
    client.on('registered', () => void this.#settleIn().catch((error: unknown) => this.#end(asError(error))));
    client.on('socket connected', () => {
      this.#isConnected = true;
    });
    client.on('socket close', (error) => this.#end(connectionLost(error, this.#lastWords)));
    client.on('sasl failed', ({ reason }) => this.#end(saslError(reason)));
    client.connection.on('message', (line) => this.#onLine(line));
    this.#timers.after(this.#timing.registerMs, () => {
      if (!this.#isRegistered)
        this.#end(new Error(`not registered within ${this.#timing.registerMs} ms: ${this.reached}`));
    });
    client.connect(clientOptions(this.#link.account, this.#timing));
  }

  /** Joins the channels. Online once the server has answered all requests. */
  async #settleIn(): Promise<void> {
    this.#isRegistered = true;
    this.#silence.watch();
    await Promise.resolve(); // lets the client library process the nick of the welcome first
    if (this.#link.account.sasl !== undefined && !this.#isLoggedIn) throw saslError('the server does not offer it');
    await this.#logIn();
    this.#channels.join();
    await this.#posting.ping('joined');
    this.#link.log.info({ nick: this.#client.user.nick, channels: this.#channels.joined.length }, 'connected');
    this.#channels.settled();
    const { cap, options } = this.#client.network;
    const most = cap.isEnabled(CAPABILITY) ? Number(options.CHATHISTORY ?? 0) || 0 : undefined;
    const { MSGREFTYPES: refs } = options;
    this.#history.ask(this.#channels.joined, most, typeof refs === 'string' ? refs : undefined);
    this.#regainLater();
  }

  async #logIn(): Promise<void> {
    if (!this.#isLoggedIn) await this.#login.run(this.#nick.isWorn);
  }

  #onLine(line: IrcLine): void {
    const { command, params } = line;
    this.#silence.heard();
    if (command === '900' || command === '903') {
      this.#isLoggedIn = true;
      this.#login.loggedIn();
    } else if (command === 'NOTICE') this.#login.onNotice(line);
    else if (command === 'PONG') this.#confirmations.pong(params.at(-1) ?? '');
    else if (isError(command)) this.#onError(command, params);
    else if (command === 'ERROR') this.#onLastWords(params.at(-1) ?? '');
    else if (this.#isRegistered && (command === 'NICK' || command === 'QUIT')) this.#nick.onLine(line);
    else if (command === 'JOIN' || command === 'PART' || command === 'KICK') this.#onMembership(line);

    const client = this.#client;
    const arrival = arrivalOf(line, {
      nick: client.user.nick,
      id: `${this.#epoch}-${++this.#lines}`,
      now: Date.now(),
      channelTypes: client.network.options.CHANTYPES ?? ['#', '&'],
      lower: (text) => client.caseLower(text),
    });
    if (!this.#hasEnded) this.#history.take(line, arrival);
  }

  #onError(command: string, params: readonly string[]): void {
    const [, subject = ''] = params;
    const reason = params.at(-1) ?? command;
    if (!this.#isRegistered) this.#onRefusedRegistration(command, reason);
    else this.#channels.refused(command, subject, reason);
    if (!OF_NICK.has(command)) this.#confirmations.refused(subject, refusalOf(command, reason));
  }

  #onRefusedRegistration(command: string, reason: string): void {
    const nickLimit = Number(this.#client.network.options.NICKLEN ?? 9);
    const next = afterRefusal(this.#link.account, { command, reason, nicksTried: this.#nicksTried + 1, nickLimit });
    if (next.kind === 'fail') return this.#end(next.error);
    if (next.kind === 'go on') return;
    this.#nicksTried += 1;
    this.#raw(`NICK ${next.nick}`);
  }

  #onLastWords(words: string): void {
    this.#lastWords = words;
    if (!this.#isRegistered) this.#onRefusedRegistration('ERROR', words);
  }

  #onMembership(line: IrcLine): void {
    const who = line.command === 'KICK' ? (line.params[1] ?? '') : line.nick;
    if (!this.#nick.isOurs(who)) return;
    if (this.#channels.changed(line)) this.#timers.after(this.#timing.rejoinMs, () => this.#channels.join());
  }

  #regainLater(): void {
    this.#timers.after(this.#timing.regainMs, () => {
      this.#nick.regain();
      this.#channels.join();
      this.#regainLater();
    });
  }

  #reading(isReading: boolean): void {
    const socket = this.#client.connection.transport?.socket;
    this.#silence.reading(isReading);
    if (isReading) socket?.resume();
    else socket?.pause();
  }

  get #isOpen(): boolean {
    return !this.#hasEnded && this.#client.connection.connected;
  }
  #raw(line: string): void {
    if (this.#isOpen) this.#client.connection.write(line);
  }

  #quit(): void {
    if (this.#isOpen) this.#client.connection.end('QUIT :bye');
    this.#timers.after(this.#client.connection.connected ? QUIT_MS : 0, () => this.#end());
  }

  #release(): void {
    this.#timers.clear();
    this.#confirmations.end(new Error('connection lost before the server confirmed'));
    this.#client.removeAllListeners();
    this.#client.connection.removeAllListeners();
    this.#client.connection.clearTimers();
    this.#client.connection.transport?.disposeSocket();
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Timers of one connection. All are cleared when it ends. */
class Timers {
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  after(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
