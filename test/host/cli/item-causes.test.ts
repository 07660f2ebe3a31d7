// Dead letters by cause on the command line: the list, pages with their progress, and what is refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../supervisor/cli/command.ts';
import { commands as inbox } from '../../../supervisor/cli/commands/inbox.ts';
import { commands as outbox } from '../../../supervisor/cli/commands/outbox.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { cannedHost } from '../../support/http/canned-host.ts';

function pick(commands: readonly Command[], verb: string): Command {
  const found = commands.find((command) => command.verb === verb);
  assert.ok(found !== undefined);
  return found;
}

describe('svc inbox and outbox by cause', () => {
  const GROUP = {
    endpoint: 'root/irc:irc~libera',
    handler: 'root/hello#on/message',
    code: 'handler_failed',
    count: 36,
    oldest: '2026-01-01T13:38:00.000Z',
    newest: '2026-01-01T13:52:00.000Z',
    item: 'a1',
  };
  const GROUPS = { groups: [GROUP], looked: 36, asOf: '2026-01-01T14:00:00.000Z' };

  it('lists dead items by cause, with one to look at', async (t) => {
    const host = await cannedHost(t, { 'GET /api/inbox/groups': { json: GROUPS } });
    const context = capturedContext(host.url);

    const code = await pick(inbox, 'list').run(context, [], { causes: true, limit: 50 });

    assert.equal(code, 0);
    assert.equal(host.asked[0]?.path, '/api/inbox/groups?state=dead');
    assert.equal(
      context.out[1],
      '36 | handler_failed | root/hello#on/message | root/irc:irc~libera | 2026-01-01T13:38:00.000Z | 2026-01-01T13:52:00.000Z | a1',
    );
  });

  it('replays a cause in pages with its progress, each page under a key of its own, and goes on where the last one ended', async (t) => {
    const pages = [
      { done: 500, left: 704, skipped: 0, next: '500' },
      { done: 500, left: 204, skipped: 0, next: '1000' },
      { done: 204, left: 0, skipped: 2 },
    ];
    const host = await cannedHost(t, {
      'GET /api/inbox/groups': { json: GROUPS },
      'POST /api/inbox/replay': () => ({ json: pages.shift() }),
    });
    const context = capturedContext(host.url);

    const code = await pick(inbox, 'replay').run(context, [], { handler: 'root/hello', code: 'handler_failed' });

    assert.equal(code, 0);
    const asked = host.asked.slice(1);
    const body = { state: 'dead', handler: 'root/hello', code: 'handler_failed', upTo: GROUPS.asOf };
    assert.deepEqual(
      asked.map((request) => request.body),
      [body, { ...body, after: '500' }, { ...body, after: '1000' }],
    );
    assert.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 3);
    assert.deepEqual(context.out, ['replayed: 1,204']);
    assert.deepEqual(context.notes.slice(0, 2), ['500 of 1,204 replayed', '1,000 of 1,204 replayed']);
    assert.match(context.notes[2] ?? '', /^2 were left as they are/);
  });

  it('stops between two pages at Ctrl-C, and says that something is left', async (t) => {
    const host = await cannedHost(t, {
      'GET /api/outbox/groups': { json: GROUPS },
      'POST /api/outbox/drop': () => {
        context.abort();
        return { json: { done: 500, left: 100, skipped: 0, next: '9' } };
      },
    });
    const context = capturedContext(host.url);

    const code = await pick(outbox, 'drop').run(context, [], { all: true, reason: 'old' });

    assert.equal(code, 1);
    assert.deepEqual(context.out, ['dropped: 500; 100 are left: run it again']);
    assert.deepEqual(host.asked[1]?.body, { state: 'dead', upTo: GROUPS.asOf, reason: 'old' });
  });

  it('waits while the inbox has no room', async (t) => {
    const answers = [
      { status: 503, json: { code: 'inbox_full', title: 'The inbox is full' } },
      { json: { done: 3, left: 0, skipped: 0 } },
    ];
    const host = await cannedHost(t, {
      'GET /api/inbox/groups': { json: GROUPS },
      'POST /api/inbox/replay': () => answers.shift() ?? { json: {} },
    });
    const context = capturedContext(host.url, { json: true });

    assert.equal(await pick(inbox, 'replay').run(context, [], { since: '2026-01-01T13:00:00Z' }), 0);

    assert.deepEqual(context.documents, [{ done: 3, left: 0, skipped: 0 }]);
    assert.equal((host.asked[2]?.body as { since?: string } | undefined)?.since, '2026-01-01T13:00:00.000Z');
  });

  it('takes an id or a selection, not both and not neither, and a drop needs its reason', async (t) => {
    const context = capturedContext((await cannedHost(t, {})).url);
    const usage = { code: 'usage' };

    await assert.rejects(pick(inbox, 'replay').run(context, [], {}), usage);
    await assert.rejects(pick(inbox, 'replay').run(context, ['a1'], { all: true }), usage);
    await assert.rejects(pick(outbox, 'drop').run(context, [], { code: 'x' }), usage);
    await assert.rejects(pick(outbox, 'replay').run(context, [], { state: 'dead' }), usage);
    await assert.rejects(pick(inbox, 'drop').run(context, [], { since: 'soon', reason: 'x' }), usage);
  });
});
