// Who may take one more of the places in which items run: nobody has all of them, nor do several together, whatever hangs.
//
//   P1  All that run fit `concurrency`, those of one endpoint `endpointConcurrency`.
//   P2  Half of the places are for whoever comes; the other half is divided among the endpoints, a part for each, of one place at least. What
//       an endpoint runs above its part is of what is for all: however many hang, each other one has its part.
//   P3  Where there are more endpoints than places some have none: the bound is what the operator wrote.
// Pure.

export interface PlaceLimits {
  readonly concurrency: number;
  readonly endpointConcurrency: number;
  /** How many endpoints there are; left out: nobody has to be thought of but who runs. */
  readonly endpoints?: (() => number) | undefined;
}

/** Places that are taken. */
export interface TakenPlaces {
  readonly total: number;
  readonly byEndpoint: ReadonlyMap<string, number>;
}

const FOR_ALL = 0.5;

/** Whether an item of this endpoint may start now; asked of several endpoints, one after the other, until one may. */
export function freePlaces(taken: TakenPlaces, limits: PlaceLimits): (endpoint: string) => boolean {
  const { concurrency, endpointConcurrency, endpoints = () => 1 } = limits;
  const { total, byEndpoint } = taken;
  if (total >= concurrency) return () => false;
  let open: { readonly part: number; readonly forAll: boolean } | undefined;
  return (endpoint) => {
    const running = byEndpoint.get(endpoint) ?? 0;
    if (running === 0) return true;
    if (running >= endpointConcurrency) return false;
    open ??= whatIsOpen(taken, concurrency, Math.max(1, endpoints()));
    return running < open.part || open.forAll;
  };
}

function whatIsOpen(
  { total, byEndpoint }: TakenPlaces,
  concurrency: number,
  endpoints: number,
): { readonly part: number; readonly forAll: boolean } {
  const part = Math.max(1, Math.floor((concurrency * (1 - FOR_ALL)) / endpoints));
  const most = concurrency - part * endpoints;
  if (total < most) return { part, forAll: true };
  let above = 0;
  for (const running of byEndpoint.values()) above += Math.max(0, running - part);
  return { part, forAll: above < most };
}
