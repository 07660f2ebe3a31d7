// Clients that come and go: event streams that are read for a moment, looked at and never read, or left in the middle; pages of every list.
import { get } from 'node:http';
import type { Random } from '../../crash/kit/random.ts';

export interface VisitorOptions {
  readonly url: string;
  readonly token: string;
  readonly random: Random;
  readonly count: number;
}

const LONGEST_STAY_MS = 1_500;
const LONGEST_BREAK_MS = 300;
const AWAY_MS = 50;
const PATHS = [
  '/api/events',
  '/api/events',
  '/api/events?types=inbox.*',
  '/api/events?types=endpoint.*&gap=head',
  '/api/events?format=json&limit=100',
  '/api/metrics',
  '/api/inbox?limit=50',
  '/api/outbox?limit=50',
  '/api/endpoints',
  '/api/system/readiness',
  '/api/openapi.json',
] as const;

export class Visitors {
  readonly #options: VisitorOptions;
  readonly #running: Promise<void>[];
  #stopped = false;
  visits = 0;
  /** Answers that no visitor should get. */
  readonly faults: string[] = [];

  constructor(options: VisitorOptions) {
    this.#options = options;
    this.#running = Array.from({ length: options.count }, () => this.#visitor());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  async #visitor(): Promise<void> {
    const { random } = this.#options;
    while (!this.#stopped) {
      await this.#visit(random.pick(PATHS), { reads: random.chance(0.7), stayMs: random.between(0, LONGEST_STAY_MS) });
      await new Promise((resolve) => setTimeout(resolve, random.between(0, LONGEST_BREAK_MS)));
    }
  }

  /** Ends with the answer, or by leaving. The host may be away: it is killed now and then. */
  #visit(path: string, { reads, stayMs }: { readonly reads: boolean; readonly stayMs: number }): Promise<void> {
    const { url, token } = this.#options;
    return new Promise((resolve) => {
      const request = get(`${url}${path}`, { agent: false, headers: { authorization: `Bearer ${token}` } });
      const leaving = setTimeout(() => request.destroy(), stayMs);
      request.on('error', () => setTimeout(() => request.destroy(), AWAY_MS));
      request.on('close', () => {
        clearTimeout(leaving);
        resolve();
      });
      request.on('response', (response) => {
        this.visits += 1;
        const { statusCode = 0 } = response;
        if (statusCode >= 400 && statusCode !== 503 && this.faults.length < 20)
          this.faults.push(`GET ${path} was answered ${statusCode}`);
        response.on('error', () => request.destroy());
        if (reads) response.resume();
      });
    });
  }
}
