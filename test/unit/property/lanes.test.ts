// Lanes under any schedule: never two of a lane at once, never out of order, none lost, whatever is read when.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type LaneItem, Lanes, type Refill } from '../../../worker/lanes/lanes.ts';
import { ofRun } from '../../support/run-length.ts';

const LIMITS = { concurrency: 3, endpointConcurrency: 2 };

/** A disk of items, a reader that pages through it, and everything that can happen to a lane. */
class Model {
  readonly lanes = new Lanes<LaneItem>(4);
  readonly disk: LaneItem[] = [];
  readonly done: LaneItem[] = [];
  readonly running = new Map<string, LaneItem>();
  readonly held = new Set<string>();
  #page: LaneItem[] = [];
  #refills: { refill: Refill; rows: LaneItem[] | undefined }[] = [];
  #loadedTo = 0;
  #seq = 0;

  store(lane: number): void {
    this.#seq += 1;
    this.disk.push({ seq: this.#seq, id: `i${this.#seq}`, endpoint: `e${lane % 2}`, lane: `l${lane}`, nextAt: null });
  }

  readPage(): void {
    if (this.#page.length > 0) return;
    this.#page = this.disk.filter(({ seq }) => seq > this.#loadedTo).slice(0, 50);
  }

  addPage(): void {
    for (const row of this.#page) this.lanes.add(row, 0);
    this.#loadedTo = this.#page.at(-1)?.seq ?? this.#loadedTo;
    this.#page = [];
  }

  readRefill(): void {
    for (const one of this.#refills)
      one.rows ??= this.disk.filter(({ lane, seq }) => lane === one.refill.lane && seq > one.refill.after).slice(0, 33);
  }

  addRefill(): void {
    const index = this.#refills.findIndex(({ rows }) => rows !== undefined);
    const [one] = index < 0 ? [] : this.#refills.splice(index, 1);
    if (one?.rows !== undefined)
      this.wanted(this.lanes.refill(one.refill.lane, { rows: one.rows, more: one.rows.length > 32, now: 0 }));
  }

  wanted(refill: Refill | undefined): void {
    if (refill !== undefined) this.#refills.push({ refill, rows: undefined });
  }

  take(): void {
    if (this.lanes.hasRoom) return this.reread();
    const item = this.lanes.take(LIMITS, () => false);
    if (item === undefined) return;
    assert.equal(this.running.has(item.lane), false, 'two of a lane at once');
    if (!this.disk.includes(item)) return this.wanted(this.lanes.finish(item, 0)); // ended by somebody else: its claim is refused
    const first = this.disk.find(({ lane }) => lane === item.lane);
    assert.equal(item.id, first?.id, 'out of order, or run twice');
    this.running.set(item.lane, item);
  }

  finish(pick: number): void {
    const item = this.#runningAt(pick);
    if (item === undefined) return;
    this.running.delete(item.lane);
    this.disk.splice(this.disk.indexOf(item), 1);
    this.done.push(item);
    this.wanted(this.lanes.finish(item, 0));
  }

  putBack(pick: number, waits: boolean): void {
    const item = this.#runningAt(pick);
    if (item === undefined) return;
    this.running.delete(item.lane);
    if (waits) {
      this.lanes.hold(item);
      this.held.add(item.lane);
    } else this.lanes.putBack(item);
  }

  release(): void {
    for (const lane of this.held) this.lanes.release(lane);
    this.held.clear();
  }

  drop(pick: number): void {
    const open = this.disk.filter((item) => this.running.get(item.lane) !== item);
    const item = open[pick % Math.max(1, open.length)];
    if (item === undefined) return;
    this.disk.splice(this.disk.indexOf(item), 1);
    this.done.push(item);
    this.wanted(this.lanes.remove(item.lane, item.id, 0));
  }

  reread(): void {
    this.lanes.clear();
    this.#loadedTo = 0;
    this.#page = [];
  }

  drain(): void {
    for (let turn = 0; turn < 2_000 && this.disk.length > 0; turn += 1) {
      this.release();
      this.readPage();
      this.addPage();
      this.readRefill();
      this.addRefill();
      for (let n = 0; n < 3; n += 1) this.take();
      this.finish(0);
    }
  }

  #runningAt(pick: number): LaneItem | undefined {
    return [...this.running.values()][pick % Math.max(1, this.running.size)];
  }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('store' as const), n: fc.nat(7) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('readPage' as const, 'addPage' as const, 'readRefill' as const, 'addRefill' as const),
      n: fc.constant(0),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('take' as const, 'finish' as const), n: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('putBack' as const, 'hold' as const, 'release' as const, 'burst' as const),
      n: fc.nat(7),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('drop' as const, 'reread' as const), n: fc.nat(20) }) },
);

describe('Lanes under any schedule', () => {
  it('never runs two of a lane at once, never reorders, never loses one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const model = new Model();
        for (const { do: what, n } of steps) {
          if (what === 'store') model.store(n);
          else if (what === 'burst') for (let k = 0; k < 40; k += 1) model.store(n % 2);
          else if (what === 'finish') model.finish(n);
          else if (what === 'putBack') model.putBack(n, false);
          else if (what === 'hold') model.putBack(n, true);
          else if (what === 'drop') model.drop(n);
          else model[what]();
        }
        model.drain();
        assert.deepEqual(model.disk, [], 'some were never run');
        assert.equal(model.lanes.running, 0);
      }),
      { numRuns: ofRun({ short: 120, long: 400 }) },
    );
  });
});
