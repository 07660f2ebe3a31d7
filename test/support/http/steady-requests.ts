// Requests at a steady rate, each over a connection of its own, and what became of each: refused, cut after it was accepted, answered, after how long.
import { type RequestOptions, request } from 'node:http';

export interface SteadyTally {
  readonly sent: number;
  readonly answered: number;
  /** Nobody accepted them. */
  readonly refused: number;
  /** Accepted and then cut: a worker died over them. */
  readonly cut: number;
  /** When the last of those was sent, as performance.now() tells it; -Infinity where there is none. */
  readonly lastCutSentAt: number;
  /** How long each of those waited that had an answer, from when it was sent first. */
  readonly waitsMs: readonly number[];
  /** Whatever else went wrong. */
  readonly others: readonly string[];
}

export interface SteadyRequests {
  /** Answers so far. */
  readonly answered: () => number;
  /** Sends once more what nobody accepted. */
  again(): void;
  /** Sends no more, and waits for what is under way. */
  end(): Promise<SteadyTally>;
}

const WAIT_MS = 30_000;

/** What is sent, where that is no GET. */
export interface SteadyRequest extends Pick<RequestOptions, 'method' | 'headers'> {
  /** Of each request a new one. */
  readonly body: () => string;
}

export function sendSteadily(url: string, perSecond: number, what?: SteadyRequest): SteadyRequests {
  const none = { sent: 0, answered: 0, refused: 0, cut: 0 };
  const never = { lastCutSentAt: Number.NEGATIVE_INFINITY };
  const tally: Counts = { ...none, ...never, waitsMs: [], others: [], refusedOnes: [] };
  const open = new Set<Promise<void>>();
  const sendAt = (sentAt: number): void => {
    const one = send({ url, ...what }, tally, sentAt).finally(() => open.delete(one));
    open.add(one);
  };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    // A timer of a busy machine comes late: what is due is sent then.
    for (const due = ((performance.now() - startedAt) / 1_000) * perSecond; tally.sent < due; tally.sent += 1) {
      sendAt(performance.now());
    }
  }, 1_000 / perSecond);
  return {
    answered: () => tally.answered,
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
  lastCutSentAt: number;
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
  const cut = (): void => {
    tally.cut += 1;
    tally.lastCutSentAt = Math.max(tally.lastCutSentAt, sentAt);
  };
  return new Promise((resolve) => {
    const call = request(url, { ...options, agent: false, timeout: WAIT_MS }, (response) => {
      response.resume().on('error', () => {}); // `close` tells
      response.on('close', () => {
        if (!response.complete) cut();
        else if (Math.floor((response.statusCode ?? 0) / 100) === 2) answered(tally, sentAt);
        else tally.others.push(`status ${response.statusCode}`);
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
