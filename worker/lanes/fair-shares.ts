// Fair shares of the concurrency: a hanging endpoint cannot take the share of another, nor can several together. Pure.
//
//   FAIR-SHARES-1  All running items stay within `concurrency`, those of one endpoint within `endpointConcurrency`.
//   FAIR-SHARES-2  Half of `concurrency` is shared. The other half is split evenly among the endpoints, at least one each. Only the items that an
//                  endpoint runs above its own part count against the shared half.
//   FAIR-SHARES-3  With more endpoints than `concurrency`, some endpoints have no part: the operator's bound holds.
//   FAIR-SHARES-4  Items of removed endpoints are subtracted before the rest is divided. Otherwise a replaced endpoint that hangs again would hold
//                  two parts, and the others none.

export interface ShareLimits {
  readonly concurrency: number;
  readonly endpointConcurrency: number;
  /** Number of endpoints. Default 1: only running endpoints count. */
  readonly endpoints?: (() => number) | undefined;
  /** Whether the endpoint still exists. Default: every running endpoint does. */
  readonly isThere?: ((endpoint: string) => boolean) | undefined;
}

/** Running items, in total and by endpoint. */
export interface TakenShares {
  readonly total: number;
  readonly byEndpoint: ReadonlyMap<string, number>;
}

const FOR_ALL = 0.5;

/** Whether an item of this endpoint may start now. The caller asks for several endpoints in turn until one may. */
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
  /** True if the shared half has room. */
  readonly forAll: boolean;
}

function whatIsOpen({ total, byEndpoint }: TakenShares, limits: ShareLimits): Open {
  const { concurrency, endpoints = () => 1, isThere = () => true } = limits;
  const count = Math.max(1, endpoints());
  const whole = divided(concurrency, count);
  if (total < whole.most) return { part: whole.part, forAll: true }; // the shared half has room in any case
  const there = [...byEndpoint].flatMap(([endpoint, running]) => (isThere(endpoint) ? [running] : []));
  const gone = total - there.reduce((sum, running) => sum + running, 0); // running items of removed endpoints
  const { part, most } = divided(concurrency - gone, count);
  const above = there.reduce((sum, running) => sum + Math.max(0, running - part), 0);
  return { part, forAll: above < most };
}

function divided(places: number, count: number): { readonly part: number; readonly most: number } {
  const part = Math.max(1, Math.floor((places * (1 - FOR_ALL)) / count));
  return { part, most: places - part * count };
}
