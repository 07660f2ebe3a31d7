// Items that start as soon as they are stored, beside others that are read from the disk: whatever comes when, none of a lane overtakes
// another, none runs twice at once, none is lost. One that is set aside holds its lane until it is due.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Core } from '../../../worker/core/core.ts';
import { type LaneOutcome, LaneRunner, type Slot } from '../../../worker/lanes/lane-runner.ts';
import type { LaneItem } from '../../../worker/lanes/lanes.ts';
import { Quarantine } from '../../../worker/lanes/quarantine.ts';
import { ofRun } from '../../support/run-length.ts';

interface Unit {
  readonly items: LaneItem[];
  readonly slots: readonly Slot[];
  isCommitted: boolean;
}

const SET_ASIDE_MS = 1_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A writer that commits units in order and tells of it later, a reader that takes its time, runs that end when they are told to. */
class Model {
  readonly order = new Map<string, string[]>();
  readonly ran = new Map<string, string[]>();
  /** The runner catches what a run throws, and tries again. */
  readonly faults: unknown[] = [];
  readonly #running = new Map<string, { readonly item: LaneItem; end(outcome: LaneOutcome): void }>();
  #disk: LaneItem[] = [];
  #now = 0;
  #alone: string | undefined;
  /** Their start may be reserved before the one that runs alone begins: they are stored claimed, and run once committed. */
  readonly #early = new Set<string>();
  #units: Unit[] = [];
  #reads: { end(): void; fail(): void }[] = [];
  #timers: (() => void)[] = [];
  #made = 0;
  #seq = 0;
  readonly #core = {
    clock: { now: () => this.#now, after: (_: number, run: () => void) => this.#after(run) },
    log: { warn: () => {}, error: ({ err }: { readonly err: unknown }) => void this.faults.push(err) },
  } as unknown as Core;
  readonly #quarantine = new Quarantine(this.#core, {
    read: async () => [],
    what: 'items',
    changed: () => this.runner.wake(),
  });
  readonly runner: LaneRunner<LaneItem> = new LaneRunner<LaneItem>({
    name: 'test',
    core: this.#core,
    limits: () => this.#quarantine.limits({ concurrency: 3, endpointConcurrency: 2 }),
    held: () => false,
    readOpen: (after, limit) => {
      const rows = this.#disk.filter(({ seq }) => seq > after).slice(0, limit);
      return new Promise((resolve, reject) =>
        this.#reads.push({ end: () => resolve(rows), fail: () => reject(new Error('no storage')) }),
      );
    },
    readLane: async (lane, after, limit) =>
      this.#disk.filter((one) => one.lane === lane && one.seq > after).slice(0, limit),
    run: (item) => this.#quarantine.watch(item.id, () => this.#run(item)),
  });

  announce(lanes: readonly number[], mayStart: boolean): void {
    const items = lanes.map((lane) => {
      this.#made += 1;
      return { seq: 0, id: `i${this.#made}`, endpoint: `e${lane % 2}`, lane: `l${lane}`, nextAt: null };
    });
    if (mayStart) for (const { id } of items) this.#early.add(id);
    this.#units.push({ items, slots: items.map((item) => this.runner.storing(item, mayStart)), isCommitted: false });
  }

  commit(): void {
    const unit = this.#units.find(({ isCommitted }) => !isCommitted);
    if (unit === undefined) return;
    unit.isCommitted = true;
    for (const item of unit.items) {
      this.#seq += 1;
      this.#disk.push({ ...item, seq: this.#seq });
      this.#of(this.order, item.lane).push(item.id);
    }
  }

  /** Answers to one group come in any order. */
  answer(pick: number): void {
    const committed = this.#units.filter(({ isCommitted }) => isCommitted);
    const unit = committed[pick % Math.max(1, committed.length)];
    if (unit === undefined) return;
    this.#units = this.#units.filter((one) => one !== unit);
    for (const slot of unit.slots) slot.begin();
  }

  fail(): void {
    const index = this.#units.findIndex(({ isCommitted }) => !isCommitted);
    if (index < 0) return;
    const [unit] = this.#units.splice(index, 1);
    for (const slot of unit?.slots ?? []) slot.abandon();
  }

  read(): void {
    this.#reads.shift()?.end();
  }

  failRead(): void {
    this.#reads.shift()?.fail();
  }

  retry(): void {
    this.#alone = undefined;
    for (const run of this.#timers.splice(0)) run();
  }

  #after(run: () => void): { cancel(): void } {
    this.#timers.push(run);
    return { cancel: () => void (this.#timers = this.#timers.filter((one) => one !== run)) };
  }

  end(pick: number, outcome: LaneOutcome = 'left'): void {
    const running = [...this.#running.values()];
    running[pick % Math.max(1, running.length)]?.end(outcome);
  }

  /** The item stays on disk at the head of its lane until it is due. */
  setAside(pick: number): void {
    this.end(pick, 'waiting');
  }

  due(): void {
    this.#now += SET_ASIDE_MS;
    for (const { lane, id, nextAt } of this.#disk)
      if (nextAt !== null && nextAt <= this.#now) this.runner.release(lane, id);
  }

  reread(): void {
    this.runner.reread();
  }

  async drain(): Promise<void> {
    for (let n = 0; n < 2_000 && (this.#units.length > 0 || this.#disk.length > 0); n += 1) {
      this.commit();
      this.answer(0);
      this.retry();
      this.read();
      this.due();
      this.end(0);
      await turn();
    }
    assert.deepEqual(this.#disk, [], 'some were never run');
  }

  #run(item: LaneItem): Promise<LaneOutcome> {
    const stored = this.#disk.find(({ id }) => id === item.id);
    if (stored === undefined) return Promise.resolve('left'); // its claim is refused: it has been run
    assert.ok((stored.nextAt ?? 0) <= this.#now, 'one that is set aside before it is due');
    if (!this.#early.has(item.id)) assert.equal(this.#alone, undefined, 'one beside one that was set aside');
    if (stored.nextAt !== null) this.#alone = item.id;
    assert.equal(this.#running.has(item.lane), false, 'two of a lane at once');
    return new Promise((resolve) =>
      this.#running.set(item.lane, {
        item,
        end: (outcome) => {
          this.#running.delete(item.lane);
          if (this.#alone === item.id) this.#alone = undefined;
          if (outcome === 'waiting') {
            this.#quarantine.setAside(item.id);
            const waits = { ...stored, nextAt: this.#now + SET_ASIDE_MS };
            this.#disk = this.#disk.map((one) => (one.id === item.id ? waits : one));
          } else {
            this.#disk = this.#disk.filter(({ id }) => id !== item.id);
            this.#of(this.ran, item.lane).push(item.id);
          }
          resolve(outcome);
        },
      }),
    );
  }

  #of(lists: Map<string, string[]>, lane: string): string[] {
    const list = lists.get(lane) ?? [];
    lists.set(lane, list);
    return list;
  }
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('announce' as const),
      lanes: fc.array(fc.nat(7), { minLength: 1, maxLength: 3 }),
      mayStart: fc.boolean(),
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constantFrom('commit' as const, 'read' as const, 'turn' as const) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constantFrom('answer' as const, 'end' as const), n: fc.nat(5) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('fail' as const, 'reread' as const, 'failRead' as const, 'retry' as const, 'due' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('setAside' as const), n: fc.nat(5) }) },
);

describe('items that start as soon as they are stored', () => {
  it('never overtake one of their lane, never run beside it, and are never lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 120 }), async (steps) => {
        const model = new Model();
        model.runner.start();
        for (const one of steps) {
          if (one.do === 'announce') model.announce(one.lanes, one.mayStart);
          else if (one.do === 'answer' || one.do === 'end' || one.do === 'setAside') model[one.do](one.n);
          else if (one.do !== 'turn') model[one.do]();
          await turn();
        }
        await model.drain();
        await model.runner.stop(0);
        assert.deepEqual(model.faults, []);
        assert.deepEqual(model.ran, model.order);
      }),
      { numRuns: ofRun({ short: 80, long: 300 }) },
    );
  });
});
