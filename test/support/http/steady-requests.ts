// Requests at a steady rate, each over a connection of its own, and what became of each: refused, cut after it was accepted, answered, after how long.
/* oxlint-disable eslint/no-restricted-properties -- sends at a rate; its waits are figures of npm run bench */
import { type RequestOptions, request } from 'node:http';

export interface SteadyTally {
  readonly sent: number;
  readonly answered: number;
  /** Nobody accepted them. */
  readonly refused: number;
  /** Accepted and then cut: a worker died over them. */
  readonly cut: number;
  /** Of those the one that was sent last, counted from 1; 0 where there is none. */
  readonly lastCut: number;
  /** How long each of those waited that had an answer, from when it was sent first. */
  readonly waitsMs: readonly number[];
  /** Whatever else went wrong. */
  readonly others: readonly string[];
}

export interface SteadyRequests {
  /** Answers so far. */
  readonly answered: () => number;
  /** How many were sent so far. */
  readonly sent: () => number;
  /** Sends once more what nobody accepted. */
  again(): void;
  /** Sends no more, and waits for what is under way. */
  end(): Promise<SteadyTally>;
}

const WAIT_MS = 300_000;
const MOST_SAID = 1_000;

/** What is sent, where that is no GET. */
export interface SteadyRequest extends Pick<RequestOptions, 'method' | 'headers'> {
  /** Of each request a new one. */
  readonly body: () => string;
}

interface SteadyRequestOptions extends Partial<SteadyRequest> {
  /** No more than so many at a time, so that a machine with others to serve gets through with them. Default: as many as are due. */
  readonly mostOpen?: number;
}

export function sendSteadily(
  url: string,
  perSecond: number,
  { mostOpen = Number.POSITIVE_INFINITY, ...what }: SteadyRequestOptions = {},
): SteadyRequests {
  const none = { sent: 0, answered: 0, refused: 0, cut: 0 };
  const tally: Counts = { ...none, lastCut: 0, waitsMs: [], others: [], refusedOnes: [] };
  const open = new Set<Promise<void>>();
  const sendAt = (sentAt: number): void => {
    const one = send({ url, ...what }, tally, sentAt).finally(() => open.delete(one));
    open.add(one);
  };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    // A timer of a busy machine comes late: what is due is sent then.
    const due = ((performance.now() - startedAt) / 1_000) * perSecond;
    for (; tally.sent < due && open.size < mostOpen; tally.sent += 1) sendAt(performance.now());
  }, 1_000 / perSecond);
  return {
    answered: () => tally.answered,
    sent: () => tally.sent,
    again() {
      for (const sentAt of tally.refusedOnes.splice(0)) sendAt(sentAt);
    },
    async end() {
      clearInterval(timer);
      await Promise.all(open);
      return tally;
    },
  };
}

interface Counts {
  sent: number;
  answered: number;
  refused: number;
  cut: number;
  lastCut: number;
  readonly waitsMs: number[];
  readonly others: string[];
  /** When each of those was sent that nobody accepted. */
  readonly refusedOnes: number[];
}

function send(
  { url, body, ...options }: Partial<SteadyRequest> & { readonly url: string },
  tally: Counts,
  sentAt: number,
): Promise<void> {
  const number = tally.sent + 1;
  const cut = (): void => {
    tally.cut += 1;
    tally.lastCut = Math.max(tally.lastCut, number);
  };
  return new Promise((resolve) => {
    const call = request(url, { ...options, agent: false, timeout: WAIT_MS }, (response) => {
      let said = '';
      response.on('error', () => {}); // `close` tells
      response.setEncoding('utf8').on('data', (text: string) => {
        if (said.length < MOST_SAID) said += text;
      });
      response.on('close', () => {
        if (!response.complete) cut();
        else if (Math.floor((response.statusCode ?? 0) / 100) === 2) answered(tally, sentAt);
        else tally.others.push(`status ${response.statusCode}: ${said}`);
        resolve();
      });
    });
    call.on('timeout', () => call.destroy(new Error('no answer in time')));
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') {
        tally.refused += 1;
        tally.refusedOnes.push(sentAt);
      } else if (error.code === 'ECONNRESET' || error.code === 'EPIPE') cut();
      else tally.others.push(error.code ?? error.message);
      resolve();
    });
    call.end(body?.());
  });
}

function answered(tally: Counts, sentAt: number): void {
  tally.answered += 1;
  tally.waitsMs.push(performance.now() - sentAt);
}
