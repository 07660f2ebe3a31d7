// A client of the event stream whose id is older than the process, on the whole host: it gets each event since, and once that row was trimmed
// it is told so. The history is trimmed once a minute.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { openSse, type SseReader } from '../../support/http/sse-reader.ts';
import { until } from '../../support/until.ts';

const LINES = 60;
const KEPT = 100;
const TRIMMED_MS = 300_000;

const headersOf = ({ project }: RunningHost): Record<string, string> => ({ authorization: `Bearer ${project.token}` });

const open = (host: RunningHost, id?: string): Promise<SseReader> =>
  openSse(`${host.url}api/events`, { ...headersOf(host), ...(id === undefined ? {} : { 'last-event-id': id }) });

async function say(host: RunningHost, delivery: string): Promise<void> {
  const response = await fetch(`${host.url}api/chat/say`, {
    method: 'POST',
    headers: { ...headersOf(host), 'content-type': 'application/json' },
    body: JSON.stringify({ person: 'ann', text: '/echo hi', delivery }),
  });
  assert.equal(response.status, 202, await response.text());
}

const handled = (reader: SseReader): number => reader.events().filter(({ event }) => event === 'inbox.done').length;
const idsOf = (reader: SseReader): (string | undefined)[] => reader.events().map(({ id }) => id);
const seqOf = (id: string | undefined): number => Number(id?.split('.')[1]);

/** The positions from one on, each once and in order. */
function assertWhole(reader: SseReader, after: number): void {
  const seqs = idsOf(reader).map((id) => seqOf(id));
  assert.ok(seqs.length > 0);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => after + 1 + index),
  );
}

describe('a client whose id is older than the process', { timeout: 600_000 }, () => {
  it('gets each event since, after a kill and after a stop, and `expired` once that row was trimmed', async (t) => {
    const host = await runningHost(t, { plugins: { sandbox: {}, echo: {} } });
    const first = await open(host);
    await first.waitFor('svc.live');
    for (let n = 0; n < LINES; n += 1) await say(host, `a${n}`);
    await until(() => handled(first) === LINES, { what: 'all to be handled' });
    const [before] = idsOf(first);
    const known = idsOf(first).slice(1);
    assert.ok(before !== undefined && known.length > KEPT);

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await host.stop(signal);
      await host.start();
      const reader = await open(host, before);
      await reader.waitFor('svc.live');
      await say(host, `after ${signal}`);
      await until(() => reader.events().at(-1)?.event === 'outbox.sent', { what: 'the newest event' });

      assert.equal(reader.find('svc.hello')?.data['resumed'], true);
      assert.equal(reader.find('svc.gap'), undefined);
      assert.deepEqual(idsOf(reader).slice(0, known.length), known, 'what the process before this one told');
      assertWhole(reader, seqOf(before));
      reader.close();
    }

    await host.stop('SIGTERM');
    const config = parse(host.project.read('svc.config.yml')) as object;
    host.project.write('svc.config.yml', stringify({ ...config, events: { history: { maxEvents: KEPT } } }));
    await host.start();
    const oldest = await until(() => oldestAfter(host, seqOf(before) + 1), {
      what: 'its row to be trimmed',
      timeoutMs: TRIMMED_MS,
      everyMs: 500,
    });
    const late = await open(host, before);
    await late.waitFor('svc.live');
    const gap = late.find('svc.gap');
    const refused = await fetch(`${host.url}api/events?gap=fail`, {
      headers: { ...headersOf(host), 'last-event-id': before },
    });

    assert.deepEqual(
      [gap?.data['reason'], gap?.data['requested'], gap?.data['missed'], gap?.data['oldest']],
      ['expired', before, oldest - 1 - seqOf(before), oldest],
    );
    assertWhole(late, oldest - 1);
    assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [410, 'history_expired']);
    const { text } = await metrics(host);
    assert.match(text, /svc_sse_gaps_total\{[^}]*reason="expired"[^}]*\} 2/);
    late.close();
  });
});

async function metrics(host: RunningHost): Promise<{ readonly text: string }> {
  return { text: await (await fetch(`${host.url}api/metrics`, { headers: headersOf(host) })).text() };
}

/** Position of the oldest event that is kept, once it is beyond this one. */
async function oldestAfter(host: RunningHost, seq: number): Promise<number | undefined> {
  const { text } = await metrics(host);
  const oldest = Number(/^svc_event_oldest(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
  return oldest > seq ? oldest : undefined;
}
