// A trace of a real supervisor, replayed: the pure machine alone must come to every state and effect that the running one came to.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { Machine } from '../../../supervisor/machine/machine.ts';
import { step } from '../../../supervisor/machine/transition.ts';
import type { TracedStep } from '../../../supervisor/supervisor.ts';

/** The steps of a trace file; a supervisor that was killed may have left half a line. */
export function readTrace(path: string): readonly TracedStep[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as TracedStep);
}

/** Each step follows from the one before it, and none but `step` decided anything. */
export function assertReplays(steps: readonly TracedStep[]): void {
  let machine: Machine | undefined;
  for (const { before, event, moment, after, effects } of steps) {
    if (machine !== undefined) assert.deepEqual(before, machine, 'the machine changed between two steps');
    const replayed = step(before, event, moment);
    assert.deepEqual(plain(replayed.machine), after, `after ${JSON.stringify(event)}`);
    assert.deepEqual(plain(replayed.effects), effects);
    machine = after;
  }
}

/** As it is on the wire: keys without a value are not there. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
