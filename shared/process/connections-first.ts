// Who connects comes first. A turn of the event loop takes one connection, however many wait (libuv from 1.45 on), and then does all that there is
// to do for those that are open: in a flood turns are long, and a platform that connects waits for many seconds, though it gives a delivery three.
// So while connections come, a turn after the other, nothing begins; where none waits this costs nobody more than the end of his turn.
//
//   F1  What waits begins in the order in which it came.
//   F2  Bounded: whoever connects without end holds work up for half of the time.

/** Hundreds of connections. */
const HOLD_MS = 500;

let waiting: (() => void)[] = [];
let isHolding = false;
let cameInTurn = false;
let freeUntil = 0;

/** To be called for each connection that was taken. */
export function tookConnection(): void {
  cameInTurn = true;
  if (isHolding || performance.now() < freeUntil) return;
  isHolding = true;
  const endsAt = performance.now() + HOLD_MS;
  const look = (): void => {
    const isLate = performance.now() >= endsAt;
    if (isLate) freeUntil = performance.now() + HOLD_MS; // F2
    if (isLate || !cameInTurn) return release();
    cameInTurn = false;
    setImmediate(look);
  };
  setImmediate(look);
}

/** Whether what would begin now has to wait. */
export const isHoldingForConnections = (): boolean => isHolding;

/** Undefined: begin at once; else begin when it resolves. */
export function afterConnections(): Promise<void> | undefined {
  return isHolding ? new Promise((resolve) => waiting.push(resolve)) : undefined;
}

/** F1. */
function release(): void {
  isHolding = false;
  const due = waiting;
  waiting = [];
  for (const begin of due) begin();
}
