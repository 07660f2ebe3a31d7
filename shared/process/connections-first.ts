// Accepts waiting connections before other work. libuv (from 1.45) accepts one connection in each turn of the event loop.
// In a flood each turn is long, so a new connection could wait many seconds. A platform allows only 3 s for a delivery.
// As long as each turn brings a connection, new work is held back. Without waiting connections this costs one turn.
//
//   CONNECTIONS-1  Held work begins in the order in which it came.
//   CONNECTIONS-2  An endless stream of connections holds work back for at most half of the time.

/** Time for hundreds of connections. */
const HOLD_MS = 500;

let waiting: (() => void)[] = [];
let isHolding = false;
let cameInTurn = false;
let freeUntil = 0;

/** Called for each accepted connection. */
export function tookConnection(): void {
  cameInTurn = true;
  if (isHolding || performance.now() < freeUntil) return;
  isHolding = true;
  const endsAt = performance.now() + HOLD_MS;
  const look = (): void => {
    const isLate = performance.now() >= endsAt;
    if (isLate) freeUntil = performance.now() + HOLD_MS; // work gets the same time free of holding
    if (isLate || !cameInTurn) return release();
    cameInTurn = false;
    setImmediate(look);
  };
  setImmediate(look);
}

/** Whether new work must wait. */
export const isHoldingForConnections = (): boolean => isHolding;

/** Undefined: begin at once. Otherwise begin when the promise resolves. */
export function afterConnections(): Promise<void> | undefined {
  return isHolding ? new Promise((resolve) => waiting.push(resolve)) : undefined;
}

/** Begins the held work in order. */
function release(): void {
  isHolding = false;
  const due = waiting;
  waiting = [];
  for (const begin of due) begin();
}
