import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../supervisor/cli/command.ts';
import { commands } from '../../../supervisor/cli/commands/tasks.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { cannedHost } from '../../support/http/canned-host.ts';

function pick(verb: string): Command {
  const found = commands.find((command) => command.verb === verb);
  assert.ok(found !== undefined);
  return found;
}
const TASK = {
  id: '12-mi3k2x9c',
  kind: 'task',
  at: '2026-11-28T09:00:00.000Z',
  capability: 'root/remind#task/fire',
  key: 'k',
  data: { text: 'a\u001b[31m\nb' },
};
const CRON = { ...TASK, id: '3-mi3k2x9c', kind: 'cron', key: null, data: { at: '0 9 * * *', timezone: 'UTC' } };

describe('svc tasks', () => {
  it('lists a page, with patterns and without control characters', async (t) => {
    const host = await cannedHost(t, { 'GET /api/tasks': { json: { items: [TASK, CRON], next: 'c2' } } });
    const context = capturedContext(host.url);

    assert.equal(await pick('list').run(context, [], { plugin: 'remind', limit: 2 }), 0);

    assert.equal(host.asked[0]?.path, '/api/tasks?plugin=remind&limit=2');
    assert.deepEqual(context.out.slice(1), [
      `${TASK.id} | ${TASK.at} | ${TASK.capability} | {"text":"a\\u001b[31m\\nb"}`,
      `${CRON.id} | ${TASK.at} | ${TASK.capability} | 0 9 * * * (UTC)`,
    ]);
    assert.deepEqual(context.notes, ['more: svc tasks list --after c2']);
  });

  it('says that none waits', async (t) => {
    const host = await cannedHost(t, { 'GET /api/tasks': { json: { items: [] } } });
    const context = capturedContext(host.url);

    await pick('list').run(context, [], {});

    assert.deepEqual(context.out, ['no task waits']);
  });

  it('cancels one under an idempotency key', async (t) => {
    const host = await cannedHost(t, { [`POST /api/tasks/${TASK.id}/cancel`]: { json: TASK } });
    const context = capturedContext(host.url);

    assert.equal(await pick('cancel').run(context, [TASK.id], {}), 0);

    assert.deepEqual(context.out, [`cancelled: ${TASK.capability}, which was due at ${TASK.at}`]);
    assert.ok(String(host.asked[0]?.headers['idempotency-key']).length > 10);
    await assert.rejects(pick('cancel').run(context, [undefined], {}), { code: 'usage' });
  });
});
