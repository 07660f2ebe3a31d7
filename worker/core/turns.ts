// Turns of the event loop, for what is to come after something else.

/** Who waits at a socket when it is listened on is answered within these: its call ends, the connection is taken, its request is read. */
export const ANSWER_TURNS = 3;

export async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
