// The ledger of starts: what of it stays, and that no figure falls when the rest goes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import type { Core } from '../../../worker/core/core.ts';
import { takeAuthority } from '../../../worker/database/authority.ts';
import { countStarts, readStarts, recordStart, STARTS_KEPT } from '../../../worker/database/starts-ledger.ts';
import { Housekeeping } from '../../../worker/host/housekeeping.ts';
import { readStoredFigures } from '../../../worker/metrics/stored-figures.ts';
import { engineHost } from '../../support/hosts/engine-host.ts';

const KEEP = { bodyDays: 7, idDays: 30, outboxDays: 7 };
const ENDS = ['stopped', 'crashed', 'config'] as const;

const start = (id: string, at: number, previousEnd = 'stopped') => ({
  runtime_id: id,
  at,
  pid: 1,
  owner: 'daemon',
  version: '1',
  node: 'v20',
  previous_end: previousEnd,
  previous_code: null,
  previous_signal: null,
  previous_detail: null,
});

/** `count` starts after the first, one a millisecond, each after one of the ends in turn. */
async function startOften({ writer }: Core, count: number): Promise<void> {
  const statements = Array.from({ length: count + 1 }, (_, at) => {
    const id = `${at.toString().padStart(8, '0')}-${newRuntimeId()}`;
    return recordStart(start(id, at, at === 0 ? 'first' : ENDS[at % ENDS.length]));
  });
  await writer.commit({ name: 'starts', statements });
}

describe('the ledger of starts', () => {
  it('is kept over restarts, newest first', async (t) => {
    const host = await engineHost(t);
    await startOften(host.core, 2);

    const { reader } = (await host.restart(t)).core;

    assert.deepEqual(
      (await readStarts(reader, 2)).map(({ at }) => at),
      [2, 1],
    );
    assert.deepEqual(Object.fromEntries(await countStarts(reader)), { first: 1, crashed: 1, config: 1 });
  });

  it('has the last that began first, and keeps it, though its clock was set back (STARTS-2)', async (t) => {
    const host = await engineHost(t);
    const { core } = host;
    await startOften(core, STARTS_KEPT);
    const ids = ['00000000-early', '00000000-again'];
    for (const [index, id] of ids.entries())
      await core.writer.commit({ name: 'start', statements: [takeAuthority(), recordStart(start(id, -index))] });

    await new Housekeeping(core, () => KEEP).run();

    assert.deepEqual(
      (await readStarts(core.reader, 3)).map(({ at }) => at),
      [-1, 0, STARTS_KEPT],
    );
    assert.equal(host.rows('SELECT at FROM starts').length, STARTS_KEPT);
  });

  it('keeps its newest rows; the others are counted on, in status and metrics (STARTS-1)', async (t) => {
    const host = await engineHost(t);
    const { core } = host;
    const house = new Housekeeping(core, () => KEEP);
    await startOften(core, STARTS_KEPT + 1_199);
    const before = await countStarts(core.reader);
    const figures = await readStoredFigures(core, '');

    await house.run();
    await house.run();

    const kept = host.rows<{ at: number }>('SELECT at FROM starts ORDER BY at');
    assert.deepEqual([kept.length, kept[0]?.at], [STARTS_KEPT, 1_200]);
    assert.deepEqual(await countStarts(core.reader), before);
    assert.deepEqual((await readStoredFigures(core, ''))?.restarts, figures?.restarts);
    assert.deepEqual(
      Object.values(figures?.restarts ?? {}).reduce((sum, n) => sum + n, 0),
      STARTS_KEPT + 1_199,
    );
  });
});
