// Waits for turns of the event loop, so that pending work comes first.

/**
 * A client that waits for a socket is answered within so many turns after `listen`. Its call ends, the connection is accepted, the request is read.
 */
export const ANSWER_TURNS = 3;

export async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
