// Who may put more into the inbox while it fills.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Admission, type Amount, admission, roomForOwn } from '../../../worker/inbox/admission.ts';
import { OpenItems } from '../../../worker/inbox/open-items.ts';

const BOUND = { items: 100, bytes: 10_000 };

/** What an inbox with that many endpoints says to each delivery; what is admitted stays open. */
class Trial {
  readonly open = new OpenItems();
  readonly #endpoints: number;
  readonly #bound: Amount;

  constructor(endpoints: number, bound: Amount = BOUND) {
    this.#endpoints = endpoints;
    this.#bound = bound;
  }

  asks(endpoint: string, { items, bytes }: Amount = { items: 1, bytes: 1 }): Admission {
    const rows = Array.from({ length: items }, (_, at) => ({
      endpoint,
      lane: endpoint,
      kind: endpoint.includes('#task') ? ('task' as const) : ('arrival' as const),
      bytes: at === 0 ? bytes : 0,
    }));
    for (const row of rows) this.open.add(row);
    const shares = { bound: this.#bound, endpoints: () => this.#endpoints };
    const answer = admission(this.open, { endpoint, batch: { items, bytes } }, shares);
    if (answer !== 'admitted') for (const row of rows) this.open.remove(row);
    return answer;
  }

  /** How many it gets in until it is refused. */
  floods(endpoint: string, one?: Amount): number {
    for (let count = 0; ; count += 1) if (this.asks(endpoint, one) !== 'admitted') return count;
  }
}

describe('admission', () => {
  it('lets a single endpoint have all of it (ADMISSION-1)', () => {
    const trial = new Trial(1);

    assert.deepEqual([trial.floods('a'), trial.asks('a')], [100, 'full']);
  });

  it('keeps a part for each of the others, however many flood it at once (ADMISSION-2)', () => {
    const trial = new Trial(5);
    const flooded = [trial.floods('a'), trial.floods('b'), trial.floods('c'), trial.floods('d')];

    assert.deepEqual(flooded, [92, 2, 2, 2]);
    assert.equal(trial.asks('a'), 'over_part');
    assert.equal(trial.floods('e'), 2);
    assert.equal(trial.open.items, 100);
  });

  it('keeps none of less than ten items for others (ADMISSION-2)', () => {
    assert.deepEqual(
      [3, 9, 10].map((items) => new Trial(5, { ...BOUND, items }).floods('a')),
      [3, 9, 9],
    );
  });

  it('divides bytes like items (ADMISSION-2)', () => {
    const trial = new Trial(2);
    const one = { items: 1, bytes: 500 };

    assert.equal(trial.floods('a', one), 19);
    assert.equal(trial.floods('b', one), 1);
  });

  it('lets one who took much take more again once others leave room for all (ADMISSION-2)', () => {
    const trial = new Trial(2);
    trial.floods('a');
    trial.open.remove({ endpoint: 'a', lane: 'a', kind: 'arrival', bytes: 1 });

    assert.deepEqual([trial.asks('a'), trial.asks('a')], ['admitted', 'over_part']);
  });

  it('takes a page or a body that is larger than the part of an endpoint which has nothing else there (ADMISSION-3)', () => {
    const page = new Trial(10);
    page.floods('a');
    const body = new Trial(10);
    body.floods('a', { items: 1, bytes: 100 });
    const large = { items: 1, bytes: 300 };

    assert.deepEqual([page.asks('b', { items: 5, bytes: 5 }), page.asks('b')], ['admitted', 'over_part']);
    assert.deepEqual([body.asks('b', large), body.asks('b', large)], ['admitted', 'over_part']);
    assert.deepEqual(
      [page.asks('c', { items: 60, bytes: 60 }), body.asks('c', { items: 1, bytes: 4_000 })],
      ['full', 'full'],
    );
  });

  it('divides what the items of the host itself leave, and those leave a tenth (ADMISSION-4)', () => {
    const trial = new Trial(2);
    for (let n = 0; roomForOwn(trial.open, BOUND) > 0; n += 1) trial.asks(`root/x#task/${n}`);

    assert.equal(trial.open.own.items, 90);
    assert.deepEqual([trial.floods('a'), trial.floods('b')], [9, 1]);
  });

  it('counts endpoints only while much is open, so that a delivery costs nothing usually', () => {
    const open = new OpenItems();
    for (let n = 0; n < 50; n += 1) open.add({ endpoint: 'a', lane: 'a', kind: 'arrival', bytes: 1 });
    const endpoints = (): number => assert.fail('asked');

    assert.equal(
      admission(open, { endpoint: 'a', batch: { items: 1, bytes: 1 } }, { bound: BOUND, endpoints }),
      'admitted',
    );
  });
});
