// Alerts under any sequence of findings, restarts and silences: what is told is a story without gaps and repeats.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SetRule } from '../../../shared/alerts/alert-machine.ts';
import { AlertLife, type Mark, type Told } from '../../support/alerts/alert-life.ts';
import { ofRun } from '../../support/run-length.ts';

const MINUTE = 60_000;
const STEP = MINUTE / 2;
const RULES: readonly SetRule[] = [
  { name: 'A', severity: 'warning', forMs: 0 },
  { name: 'B', severity: 'warning', forMs: 3 * MINUTE },
  { name: 'Loop', severity: 'critical', forMs: MINUTE, mutes: 'A' },
];

type Span = { readonly marks: Readonly<Record<string, Mark>>; readonly steps: number; readonly restart: boolean };

const mark = fc.constantFrom<Mark>('1', '1', '0', '0', '0', '?', 'h');
const span: fc.Arbitrary<Span> = fc.record({
  marks: fc.record({ A: mark, B: mark, Loop: mark }),
  steps: fc.integer({ min: 1, max: 40 }),
  restart: fc.boolean(),
});
const spans = fc.array(span, { minLength: 1, maxLength: 30 });

const lived = (story: readonly Span[], isRestarted = true): AlertLife => {
  const life = new AlertLife({ rules: RULES, stepMs: STEP });
  for (const { marks, steps, restart } of story) {
    for (let n = 0; n < steps; n += 1) life.step(marks);
    if (restart && isRestarted) life.restart();
  }
  return life;
};

const of = (told: readonly Told[], id: string): readonly Told['kind'][] =>
  told.filter((one) => one.id === id).map(({ kind }) => kind);

describe('what is told of alerts', () => {
  it('begins before it ends, and neither twice', () => {
    fc.assert(
      fc.property(spans, (story) => {
        for (const { name } of RULES) {
          let last: string | undefined = 'resolved';
          for (const kind of of(lived(story).told, name)) {
            if (kind === 'fired') assert.equal(last, 'resolved', name);
            if (kind === 'resolved') assert.notEqual(last, 'resolved', name);
            if (kind === 'flapping') assert.notEqual(last, 'flapping', name);
            if (kind === 'still') assert.notEqual(last, 'resolved', name);
            last = kind;
          }
        }
      }),
      { numRuns: ofRun({ short: 120, long: 500 }) },
    );
  });

  it('is the same, whenever the process is replaced', () => {
    fc.assert(
      fc.property(spans, (story) => {
        assert.deepEqual(lived(story).told, lived(story, false).told);
      }),
      { numRuns: ofRun({ short: 80, long: 300 }) },
    );
  });

  it('is told at most once a minute, within a minute of the change unless it is muted', () => {
    fc.assert(
      fc.property(spans, (story) => {
        const { told, changes } = lived(story);
        const times = [...new Set(told.map(({ at }) => at))];
        assert.ok(times.every((at, index) => index === 0 || at - (times[index - 1] ?? 0) >= MINUTE));
        const { now: end } = lived(story);
        const fired = changes.filter(({ id, kind }) => kind === 'fired' && id === 'B');
        for (const { at } of fired)
          assert.ok(
            at + MINUTE >= end ||
              told.some((one) => one.id === 'B' && one.at >= at && one.at <= at + MINUTE) ||
              of(told, 'B').includes('flapping'),
          );
      }),
      { numRuns: ofRun({ short: 80, long: 300 }) },
    );
  });

  it('ends once everything is quiet for long enough, and nothing is left to remember', () => {
    fc.assert(
      fc.property(spans, (story) => {
        const life = lived(story);
        for (let n = 0; n < 150; n += 1) life.step({ A: '0', B: '0', Loop: '0' });
        assert.ok([...life.alerts.values()].every(({ phase, told }) => phase === 'resolved' && told === null));
        life.now += 8 * 24 * 60 * MINUTE;
        life.step({ A: '0', B: '0', Loop: '0' });
        assert.equal(life.alerts.size, 0);
        for (const { name } of RULES) assert.notEqual(of(life.told, name).at(-1), 'fired');
      }),
      { numRuns: ofRun({ short: 80, long: 300 }) },
    );
  });
});
