// GitHub's API on the loopback address: the paths, status codes, bodies and rate limit headers of its documentation for what a bot does
// with issues, pull requests, discussions and webhooks. GitHub's own client drives it in a test of its own (test/platforms/github/fake.test.ts).
//
//   F1  What it has taken is recorded before it answers. `misbehave` may take a request and cut the connection without an answer.
//   F2  Whoever has no token of `accounts` gets 401, a request that the documentation does not know gets 404.
//   F3  Each answer has the headers of the primary limit; with none left it is 403, until `reset`.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wholeBody } from '../http/whole-body.ts';
import type { Cleanup } from '../temporary-project.ts';
import { type GithubAnswer, GithubData, type GithubRequest, problem } from './github/data.ts';
import { answerGraphql } from './github/graphql.ts';
import { answerRest } from './github/rest.ts';
import { type Pace, paced } from './paced.ts';

const HOUR_S = 3_600;

export class FakeGithub {
  readonly data = new GithubData();
  /** `<method> <path>` of every request that had a good token. */
  readonly requests: string[] = [];
  remaining = 5_000;
  /** Epoch seconds. */
  reset = Math.floor(Date.now() / 1_000) + HOUR_S;
  /** Instead of the answer of the next request. `drop`: it is done, and the connection cut. */
  misbehave: ((request: GithubRequest) => GithubAnswer | 'drop' | undefined) | undefined;
  /** A repository that was renamed or given away: its paths lead to those by its number. */
  moved: { readonly from: string; readonly to: string; readonly status: number } | undefined;
  /** How long its calls are under way. */
  pace: Pace | undefined;
  readonly #accounts: ReadonlyMap<string, string>;
  readonly #server: Server;

  /** Logins by token. */
  constructor(accounts: Readonly<Record<string, string>>) {
    this.#accounts = new Map(Object.entries(accounts));
    this.#server = createServer(paced(this, (request, response) => void this.#take(request, response)));
  }

  async start(owner: Cleanup): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    owner.after(() => {
      this.#server.close();
      this.#server.closeAllConnections();
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await wholeBody(request);
    if (bytes === undefined) return;
    const url = new URL(request.url ?? '/', this.url);
    const token = /^(?:token|bearer) (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const login = this.#accounts.get(token);
    const path = url.pathname.replace(/^\/repositories\/1\//, `/repos/${this.moved?.to}/`);
    const of = { method: request.method ?? 'GET', path, query: url.searchParams };
    if (login === undefined || request.headers['user-agent'] === undefined)
      return this.#answer(response, { status: 401, json: problem('Bad credentials', 401) });
    this.requests.push(`${of.method} ${of.path}`);
    const text = bytes.toString();
    const asked = {
      ...of,
      login,
      json: text === '' ? {} : (JSON.parse(text) as GithubRequest['json']),
      data: this.data,
    };
    const forced = this.misbehave?.(asked);
    if (forced !== undefined && forced !== 'drop') return this.#answer(response, forced);
    if (this.remaining === 0)
      return this.#answer(response, { status: 403, json: problem('API rate limit exceeded', 403) });
    this.remaining -= 1;
    const elsewhere = this.#elsewhere(url);
    if (elsewhere !== undefined) return this.#answer(response, elsewhere);
    const answer = of.path === '/graphql' ? answerGraphql(asked) : answerRest(asked);
    if (forced === 'drop') request.socket.destroy();
    else this.#answer(response, answer);
  }

  #elsewhere({ pathname, search }: URL): GithubAnswer | undefined {
    const former = `/repos/${this.moved?.from}/`;
    if (this.moved === undefined || !pathname.startsWith(former)) return undefined;
    const location = `${this.url}/repositories/1/${pathname.slice(former.length)}${search}`;
    const { status } = this.moved;
    return { status, headers: { location }, json: { ...problem('Moved Permanently', status), url: location } };
  }

  #answer(response: ServerResponse, { status, json, headers }: GithubAnswer): void {
    response.writeHead(status, {
      ...(json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      'x-github-media-type': 'github.v3; format=json',
      'x-github-request-id': 'FA4E:0',
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': String(this.remaining),
      'x-ratelimit-reset': String(this.reset),
      'x-ratelimit-used': String(5_000 - this.remaining),
      'x-ratelimit-resource': 'core',
      ...headers,
    });
    response.end(json === undefined ? undefined : written(json));
  }
}

/** Numbers as long as they are: JSON of Node 20 writes no bigint. */
function written(json: unknown): string {
  const marked = JSON.stringify(json, (_key, value: unknown) =>
    typeof value === 'bigint' ? `bigint:${value}` : value,
  );
  return marked.replace(/"bigint:(\d+)"/g, '$1');
}
