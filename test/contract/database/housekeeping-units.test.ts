// Housekeeping shares the writer with what is acknowledged: what one of its units does bounds how long an acknowledgement waits behind it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Core } from '../../../worker/core/core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { Housekeeping } from '../../../worker/host/housekeeping.ts';
import { engineHost } from '../../support/hosts/engine-host.ts';

const MANY = 1_200;
const MOST_OF_A_UNIT = 500;
const KEEP = { bodyDays: 7, idDays: 30, outboxDays: 7 };
const NUMBERS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})`;

/** The units of one pass with how many rows each took. */
async function unitsOfAPass(core: Core): Promise<readonly { readonly unit: Unit; readonly rows: number }[]> {
  const units: { unit: Unit; rows: number }[] = [];
  const writer = Object.create(core.writer, {
    commit: {
      value: async (unit: Unit) => {
        const answer = await core.writer.commit(unit);
        if (unit.name === 'housekeeping')
          units.push({ unit, rows: answer.kind === 'committed' ? (answer.rows.at(-1)?.length ?? 0) : 0 });
        return answer;
      },
    },
  }) as Core['writer'];
  await new Housekeeping({ ...core, writer }, () => KEEP).run();
  return units;
}

describe('a unit of housekeeping', () => {
  it('takes a bounded number of rows of each kind, and the pass takes all', async (t) => {
    const host = await engineHost(t);
    await host.write(
      `${NUMBERS} INSERT INTO dialogs (owner, capability, data, skipped, asked, expires_at) SELECT 'o' || i, 'c', '{}', '[]', '{}', 1 FROM n`,
    );
    await host.write(
      `${NUMBERS} INSERT INTO idempotency (key, route, request_digest, at) SELECT 'k' || i, 'r', 'd', 1 FROM n`,
    );
    await host.write(
      `${NUMBERS} INSERT INTO buttons (token, endpoint, conversation, action, data, label, created_at) SELECT 't' || i, 'e', 'c', 'a', '{}', 'l', 1 FROM n`,
    );

    const units = await unitsOfAPass(host.core);

    const left = ['dialogs', 'idempotency', 'buttons'].map((table) => host.rows(`SELECT 1 FROM ${table}`).length);
    const taken = units.map(({ rows }) => rows);
    assert.deepEqual(left, [0, 0, 0]);
    assert.equal(
      taken.reduce((sum, rows) => sum + rows, 0),
      3 * MANY,
    );
    assert.ok(Math.max(...taken) <= MOST_OF_A_UNIT, String(taken));
  });

  it('walks through no table that grows with what was said', async (t) => {
    const host = await engineHost(t);

    const statements = (await unitsOfAPass(host.core)).flatMap(({ unit }) => unit.statements);
    const steps = statements.flatMap(({ sql, parameters }) =>
      host.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...parameters),
    );
    const walked = new Set(steps.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN')));

    // Rows of open items alone, of the last day, of questions that wait for their answer, and of starts up to the number that is kept.
    assert.deepEqual([...walked].sort(), ['SCAN dialogs', 'SCAN idempotency', 'SCAN run', 'SCAN starts']);
  });
});
