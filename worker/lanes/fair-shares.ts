// Who may take one more of the places in which items run: nobody has all of them, nor do several together, whatever hangs.
//
//   P1  All that run fit `concurrency`, those of one endpoint `endpointConcurrency`.
//   P2  Half of the places are for whoever comes; the other half is divided among the endpoints, a part for each, of one place at least. What
//       an endpoint runs above its part is of what is for all: however many hang, each other one has its part.
//   P3  Where there are more endpoints than places some have none: the bound is what the operator wrote.
//   P4  What endpoints that are gone still hold, until their items end, is taken off before the rest is divided: one that comes in the place of another,
//       and hangs as that did, would else have a part beside its former one, and the others none.
// Pure.

export interface ShareLimits {
  readonly concurrency: number;
  readonly endpointConcurrency: number;
  /** How many endpoints there are; left out: nobody has to be thought of but who runs. */
  readonly endpoints?: (() => number) | undefined;
  /** Whether it is one of them; left out: who runs is. */
  readonly isThere?: ((endpoint: string) => boolean) | undefined;
}

/** Places that are taken. */
export interface TakenShares {
  readonly total: number;
  readonly byEndpoint: ReadonlyMap<string, number>;
}

const FOR_ALL = 0.5;

/** Whether an item of this endpoint may start now; asked of several endpoints, one after the other, until one may. */
export function freeShares(taken: TakenShares, limits: ShareLimits): (endpoint: string) => boolean {
  const { concurrency, endpointConcurrency } = limits;
  const { total, byEndpoint } = taken;
  if (total >= concurrency) return () => false;
  let open: Open | undefined;
  return (endpoint) => {
    const running = byEndpoint.get(endpoint) ?? 0;
    if (running === 0) return true;
    if (running >= endpointConcurrency) return false;
    open ??= whatIsOpen(taken, limits);
    return running < open.part || open.forAll;
  };
}

interface Open {
  readonly part: number;
  /** Whether any of what is for all is free. */
  readonly forAll: boolean;
}

function whatIsOpen({ total, byEndpoint }: TakenShares, limits: ShareLimits): Open {
  const { concurrency, endpoints = () => 1, isThere = () => true } = limits;
  const count = Math.max(1, endpoints());
  const whole = divided(concurrency, count);
  if (total < whole.most) return { part: whole.part, forAll: true }; // whoever holds them
  const there = [...byEndpoint].flatMap(([endpoint, running]) => (isThere(endpoint) ? [running] : []));
  const gone = total - there.reduce((sum, running) => sum + running, 0); // P4
  const { part, most } = divided(concurrency - gone, count);
  const above = there.reduce((sum, running) => sum + Math.max(0, running - part), 0);
  return { part, forAll: above < most };
}

function divided(places: number, count: number): { readonly part: number; readonly most: number } {
  const part = Math.max(1, Math.floor((places * (1 - FOR_ALL)) / count));
  return { part, most: places - part * count };
}
