// Lists of many stored items: counted to the last one, without holding up everything else meanwhile.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Core } from '../../../../worker/core/core.ts';
import { type ListOf, readItemPage } from '../../../../worker/inbox/item-page.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const ROWS = 40_000;
const NUMBERS = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
/** Every tenth is of the account `b`, every hundredth is dead; those between are gone, as retention leaves it. */
const FACTS = `'root/x:x~' || iif(i % 10 = 0, 'b', 'a'), iif(i % 100 = 0, 'dead', iif(i % 7 = 0, 'sent', 'done')), 5 * i`;

const FILL = `${NUMBERS} INSERT INTO inbox
  (endpoint, state, seq, id, delivery_id, weak, kind, lane, payload_version, sha256, bytes, received_at, attempts, correlation_id)
  SELECT ${FACTS}, i, i, 0, 'arrival', 'l', 1, '', 0, 0, 1, i FROM n`;

async function filled(t: Parameters<typeof engineHost>[0]): Promise<EngineHost> {
  const host = await engineHost(t);
  const answer = (await host.write(FILL)) as { readonly kind: string; readonly detail?: string };
  assert.equal(answer.kind, 'committed', answer.detail);
  return host;
}

const list: ListOf<{ readonly seq: number }> = { table: 'inbox', summary: ({ seq }) => ({ seq }) };

/** The page, and how many turns the event loop took meanwhile. */
async function page(
  core: Core,
  asked: { readonly state?: string; readonly endpoint?: string; readonly after?: string },
) {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { items, total, next } = await readItemPage(core, list, { limit: 2, texts: false, ...asked } as never);
  isOver = true;
  return { seqs: items.map(({ seq }) => seq), total, next, turns };
}

describe('a list of many items', () => {
  it('tells exactly how many there are, and lets the event loop turn meanwhile', async (t) => {
    const { core } = await filled(t);

    const dead = await page(core, { state: 'dead' });
    const ofB = await page(core, { endpoint: 'x~b' });
    const both = await page(core, { state: 'dead', endpoint: 'root/x:x~b', after: '100000' });
    const [none, all] = [await page(core, { endpoint: 'x' }), await page(core, {})];

    assert.deepEqual([dead.seqs, dead.total, dead.next], [[200_000, 199_500], 400, '199500']);
    assert.deepEqual([ofB.seqs, ofB.total], [[200_000, 199_950], 4_000]);
    assert.deepEqual([both.seqs, both.total], [[99_500, 99_000], 400]);
    assert.deepEqual([none.seqs, none.total, all.seqs, all.total], [[], 0, [200_000, 199_995], ROWS]);
    for (const { turns } of [dead, ofB, both]) assert.ok(turns > 10, `${turns} turns`);
  });

  it('names an account of what goes out in full or in short, as of what comes in', async (t) => {
    const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, () => 'hi') });
    const host = await engineHost(t, { modules: { echo } });
    for (let n = 0; n < 3; n += 1) await host.platform.says('hello');
    await host.quiet();

    const totals: number[] = [];
    for (const table of ['inbox', 'outbox'] as const)
      for (const endpoint of ['root/memory:memory~a', 'memory~a', 'memory', 'memory~']) {
        const request = { limit: 2, texts: false, endpoint, state: table === 'inbox' ? 'done' : 'sent' };
        const { items, total } = await readItemPage(host.core, { ...list, table }, request as never);
        assert.equal(items.length, Math.min(total ?? 0, 2));
        totals.push(total ?? 0);
      }

    assert.deepEqual(totals, [3, 3, 0, 0, 3, 3, 0, 0]);
  });

  it('finds those of an account by an index', async (t) => {
    const host = await filled(t);
    const asked: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
    const reader: Core['reader'] = {
      all: (query) => {
        asked.push(query.compile());
        return host.core.reader.all(query);
      },
      first: (query) => {
        asked.push(query.compile());
        return host.core.reader.first(query);
      },
    };

    await page({ ...host.core, reader }, { endpoint: 'x~b' });

    const plans = asked
      .filter(({ sql }) => sql.includes('"endpoint"'))
      .flatMap(({ sql, parameters }) => host.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...parameters));
    assert.ok(plans.length > ROWS / 10_000, `${plans.length}`);
    for (const { detail } of plans) assert.match(detail, /^SEARCH inbox USING (COVERING )?INDEX/);
  });
});
