// Runs the suite of adapters over those that have one fault each: a program, since most of its tests fail.
import { beforeEach } from 'node:test';
import { adapterContract, type Fixtures } from 'svc/testing';
import {
  CHANGES,
  delivery,
  everywhere,
  type Fault,
  faultyAdapter,
  HISTORY,
  imaginaryPlatform,
  SIGNING,
  said,
  TOKEN,
  US,
  WITHOUT_HTTP,
  wire,
} from './faulty-adapter.ts';

/** What shows only in what does not come is not waited for any longer. */
const IN_VAIN: ReadonlySet<Fault> = new Set([
  'makes-up-ids',
  'brings-its-own',
  'is-silent-when-cut',
  'moves-its-cursor-first',
  'goes-on-behind-what-is-not-stored',
  'hears-for-all-accounts',
  'goes-on-when-it-is-told-to-end',
  'goes-on-with-a-refused-token',
]);

const OVER_THE_WIRE: Partial<Fixtures> = {
  taken: () => wire.taken,
  slows: (afterMs) => void (wire.waitMs = afterMs),
  refuses: () => void (wire.refuses = true),
};

let [platform, silent] = [imaginaryPlatform(), imaginaryPlatform([])];
beforeEach(() => {
  [platform, silent] = [imaginaryPlatform(), imaginaryPlatform([])];
  everywhere.seen.clear();
  everywhere.keys.clear();
  everywhere.failed = false;
  Object.assign(wire, { taken: [], waitMs: undefined, refuses: false });
});

for (const fault of process.argv.slice(2) as Fault[]) {
  const isDeaf = fault === 'is-sound-and-hears-nothing';
  adapterContract(faultyAdapter(fault), {
    account: (url) => ({ url, token: TOKEN, signing: SIGNING }),
    ...(WITHOUT_HTTP.has(fault) ? OVER_THE_WIRE : {}),
    ...(WITHOUT_HTTP.has(fault) || fault === 'is-sound-and-catches-up-for-long'
      ? { refused: (url) => ({ url, token: 'another', signing: SIGNING }) }
      : { platform: (request) => (isDeaf ? silent(request) : platform(request)) }),
    ...(fault === 'has-an-address-all-the-same' ? {} : { good: () => delivery(said('d1')) }),
    own: () => delivery(said('d2', US)),
    several: () => [delivery(said('d3'), said('d4', US)), delivery(said('d5'), said('d6'))],
    order: ['d3', 'd5', 'd6'],
    history: isDeaf ? [] : HISTORY.filter(({ from }) => from !== US).map(({ id }) => id),
    secrets: [TOKEN, SIGNING],
    unsigned: ['time'],
    ...(CHANGES.has(fault) ? { changes: true } : {}),
    ...(IN_VAIN.has(fault) ? { timeoutMs: 1_000 } : {}),
  });
}
