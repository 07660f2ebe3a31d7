import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Command } from '../../../supervisor/cli/command.ts';
import { commands as endpoints } from '../../../supervisor/cli/commands/endpoints.ts';
import { commands as inbox } from '../../../supervisor/cli/commands/inbox.ts';
import { commands as ingress } from '../../../supervisor/cli/commands/ingress.ts';
import { commands as outbox } from '../../../supervisor/cli/commands/outbox.ts';
import { command as plugins } from '../../../supervisor/cli/commands/plugins.ts';
import { commands as webhooks } from '../../../supervisor/cli/commands/webhooks.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { cannedHost } from '../../support/http/canned-host.ts';

function pick(commands: readonly Command[], verb: string): Command {
  const found = commands.find((command) => command.verb === verb);
  assert.ok(found !== undefined);
  return found;
}
const ITEM = {
  id: 'a1',
  state: 'dead',
  kind: 'arrival',
  endpoint: 'root/irc:irc',
  attempts: 5,
  receivedAt: new Date(Date.now() - 20 * 3_600_000).toISOString(),
  lastError: 'bad\u001b[31m',
};

describe('svc inbox and outbox', () => {
  it('lists a page with its filters, control characters shown', async (t) => {
    const host = await cannedHost(t, { 'GET /api/inbox': { json: { items: [ITEM], next: 'c2', total: 60 } } });
    const context = capturedContext(host.url);

    const code = await pick(inbox, 'list').run(context, [], { state: 'dead', limit: 50 });

    assert.equal(code, 0);
    assert.equal(host.asked[0]?.path, '/api/inbox?state=dead&limit=50');
    assert.equal(context.out[1], 'a1 | dead | arrival | root/irc:irc | 5 | 20h | bad\\u001b[31m');
    assert.deepEqual(context.notes, ['more: svc inbox list --after c2']);
  });

  it('refuses a state that the store does not have', async (t) => {
    const host = await cannedHost(t, {});

    await assert.rejects(pick(outbox, 'list').run(capturedContext(host.url), [], { state: 'done' }), { code: 'usage' });
    await assert.rejects(pick(inbox, 'list').run(capturedContext(host.url), [], { limit: '0x10' }), { code: 'usage' });
  });

  it('replays what it has read: revision and one idempotency key', async (t) => {
    const host = await cannedHost(t, {
      'GET /api/outbox/a1': { json: { id: 'a1', state: 'unknown' }, headers: { etag: '"r7"' } },
      'POST /api/outbox/a1/replay': { json: { id: 'a1', state: 'pending' } },
    });
    const context = capturedContext(host.url);

    await pick(outbox, 'replay').run(context, ['a1'], { answer: 'again' });

    assert.deepEqual(host.asked[1]?.body, { answer: 'again' });
    assert.equal(host.asked[1]?.headers['if-match'], '"r7"');
    assert.ok(String(host.asked[1]?.headers['idempotency-key']).length > 10);
    assert.deepEqual(context.out, ['back in line: a1 is pending']);
  });

  it('drops with a reason only, and says when there is no such item', async (t) => {
    const host = await cannedHost(t, {
      'GET /api/inbox/a1': { json: ITEM },
      'POST /api/inbox/a1/drop': { json: { ...ITEM, state: 'done' } },
    });
    const context = capturedContext(host.url, { json: true });

    await pick(inbox, 'drop').run(context, ['a1'], { reason: 'spam' });

    assert.deepEqual(host.asked[1]?.body, { reason: 'spam' });
    assert.deepEqual(context.documents, [{ ...ITEM, state: 'done' }]);
    await assert.rejects(pick(inbox, 'drop').run(context, ['a1'], {}), { code: 'usage' });
    await assert.rejects(pick(inbox, 'show').run(context, ['nope'], {}), { code: 'not_found' });
  });

  it('holds an item with a reason only', async (t) => {
    const host = await cannedHost(t, {
      'GET /api/inbox/a1': { json: { ...ITEM, state: 'handling' }, headers: { etag: '"handling-2"' } },
      'POST /api/inbox/a1/hold': { json: ITEM },
    });
    const context = capturedContext(host.url);

    await pick(inbox, 'hold').run(context, ['a1'], { reason: 'kills' });

    assert.deepEqual([host.asked[1]?.body, host.asked[1]?.headers['if-match']], [{ reason: 'kills' }, '"handling-2"']);
    assert.deepEqual(context.out, ['held: a1 is dead']);
    await assert.rejects(pick(inbox, 'hold').run(context, ['a1'], {}), {
      code: 'usage',
      hint: 'svc inbox hold <id> --reason "ends the process"',
    });
    await assert.rejects(pick(outbox, 'hold').run(context, [undefined], { reason: 'x' }), { code: 'usage' });
  });
});

describe('svc endpoints', () => {
  it('lists, shows with an exit code that says online, and acts on an id with slashes', async (t) => {
    const ERROR = { at: 's', code: 'connect_failed', reason: 'refused', remedy: 'look at the port' };
    const endpoint = { id: 'root/irc:irc~libera', state: 'offline', since: 's', lastError: ERROR };
    const host = await cannedHost(t, {
      'GET /api/endpoints': {
        json: {
          endpoints: [
            endpoint,
            { id: 'root/a:a', state: 'disabled', since: 's', enabled: false, configured: true, lastError: null },
            { id: 'root/b:b', state: 'disabled', since: 's', enabled: false, configured: false, lastError: null },
            { id: 'root/c:c', state: 'online', enabled: true, configured: false, override: true },
            { id: 'root/d:d', state: 'online', enabled: true, configured: true, override: true },
            { id: 'root/e:e', state: 'disabled', enabled: false, configured: false, override: false },
            { id: 'root/f:f', state: 'failed', enabled: true, configured: false },
          ],
        },
      },
      'GET /api/endpoints/irc~libera': { json: { ...endpoint, state: 'online' } },
      'GET /api/endpoints/root/irc:irc~libera': { json: endpoint },
      'POST /api/endpoints/root/irc:irc~libera/reconnect': { json: { ...endpoint, state: 'connecting' } },
    });
    const context = capturedContext(host.url);

    const codes = [
      await pick(endpoints, 'list').run(context, [], {}),
      await pick(endpoints, 'show').run(context, ['irc~libera'], {}),
      await pick(endpoints, 'show').run(context, ['root/irc:irc~libera'], {}),
      await pick(endpoints, 'reconnect').run(context, ['root/irc:irc~libera'], {}),
    ];

    assert.deepEqual(codes, [0, 0, 1, 0]);
    assert.equal(context.out[1], 'root/irc:irc~libera | offline | s | connect_failed: refused; look at the port');
    assert.match(context.out[2] ?? '', /^root\/a:a \| disabled by an operator \| s/);
    assert.match(context.out[3] ?? '', /^root\/b:b \| disabled by the configuration \| s/);
    assert.deepEqual(
      context.out.slice(4, 8).map((row) => row.split(' | ', 2)[1]),
      [
        'online, enabled by an operator',
        'online',
        'disabled by an operator and by the configuration',
        'failed, enabled by an operator',
      ],
    );
    assert.ok(context.out.includes('lastError: connect_failed: refused; look at the port'));
    assert.equal(context.out.at(-1), 'root/irc:irc~libera is connecting');
  });

  it('lists those of all pages', async (t) => {
    const page = (id: string, next?: string) => ({ json: { endpoints: [{ id, state: 'online' }], total: 3, next } });
    const host = await cannedHost(t, {
      'GET /api/endpoints': page('root/irc:irc~a', 'root/irc:irc~a'),
      'GET /api/endpoints?after=root%2Firc%3Airc~a': page('root/irc:irc~b', 'root/irc:irc~b'),
      'GET /api/endpoints?after=root%2Firc%3Airc~b': page('root/irc:irc~c'),
    });
    const context = capturedContext(host.url);
    const json = capturedContext(host.url, { json: true });

    await pick(endpoints, 'list').run(context, [], {});
    await pick(endpoints, 'list').run(json, [], {});

    const ids = ['root/irc:irc~a', 'root/irc:irc~b', 'root/irc:irc~c'];
    assert.deepEqual(
      context.out.slice(1).map((line) => line.split(' ')[0]),
      ids,
    );
    assert.deepEqual(json.documents, [{ endpoints: ids.map((id) => ({ id, state: 'online' })), total: 3 }]);
  });
});

describe('a list of what serves', () => {
  const EMPTY = { endpoints: [], plugins: [], webhooks: [], total: 0 };
  const lists = [
    ['endpoints', pick(endpoints, 'list')],
    ['plugins', plugins],
    ['webhooks', pick(webhooks, 'url')],
  ] as const;
  const hostWith = (t: TestContext, path: string, status: object) =>
    cannedHost(t, { [`GET /api/${path}`]: { json: EMPTY }, 'GET /api/system/status': { json: status } });

  for (const [path, command] of lists) {
    it(`is refused with the reason where no generation serves: ${path}`, async (t) => {
      const lastFailure = { code: 'plugin_failed', reason: './plugins/own.js cannot be loaded' };
      const failed = await hostWith(t, path, { generation: null, reasons: ['runtime: x'], lastFailure });
      const closed = await hostWith(t, path, {
        generation: null,
        reasons: ['database: is damaged'],
        lastFailure: null,
      });
      const rejects = (url: string, message: string) =>
        assert.rejects(async () => command.run(capturedContext(url), [], {}), {
          code: 'endpoint_unavailable',
          message,
        });

      await rejects(failed.url, 'no generation serves: ./plugins/own.js cannot be loaded');
      await rejects(closed.url, 'no generation serves: database: is damaged');
    });

    it(`may be empty where one serves: ${path}`, async (t) => {
      const host = await hostWith(t, path, { generation: 3, reasons: [], lastFailure: null });
      const context = capturedContext(host.url);

      assert.equal(await command.run(context, [], {}), 0);
      assert.match(context.out[0] ?? '', /^no /);
    });
  }

  it('gives the reason also where one account is asked for, and keeps the refusal where one serves', async (t) => {
    const refusal = { status: 503, json: { code: 'endpoint_unavailable', title: 'The endpoint is not available' } };
    let generation: number | null = null;
    const { url } = await cannedHost(t, {
      'GET /api/endpoints/a': refusal,
      'POST /api/endpoints/a/enable': refusal,
      'POST /api/webhooks/a/register': refusal,
      'GET /api/system/status': () => ({ json: { generation, lastFailure: { code: 'plugin_failed', reason: 'why' } } }),
    });
    const asked = [pick(endpoints, 'show'), pick(endpoints, 'enable'), pick(webhooks, 'register')];
    const messages = async () => {
      const said: string[] = [];
      for (const command of asked)
        await assert.rejects(
          async () => command.run(capturedContext(url), ['a'], {}),
          ({ code, message }: NodeJS.ErrnoException) => code === 'endpoint_unavailable' && said.push(message) > 0,
        );
      return [...new Set(said)];
    };

    assert.deepEqual(await messages(), ['no generation serves: why']);
    generation = 1;
    assert.deepEqual(await messages(), ['The endpoint is not available']);
  });
});

describe('svc webhooks url', () => {
  it('names the command that registers an address, as it is to be typed', async (t) => {
    const path = '/webhooks/telegram/shop';
    const addresses = [
      { endpoint: 'root/telegram:telegram~shop', path, url: `https://bot.example${path}`, registers: true },
      { endpoint: 'root/tea#webhook/in', path: '/webhooks/tea/in', url: null, registers: false },
    ];
    const host = await cannedHost(t, { 'GET /api/webhooks': { json: { webhooks: addresses, total: 2 } } });
    const context = capturedContext(host.url);

    await pick(webhooks, 'url').run(context, [], {});

    assert.match(context.out.join('\n'), /svc webhooks register telegram~shop\n.*on the platform's pages/);
  });
});

describe('svc ingress', () => {
  it('pauses for a duration and says so, resumes, and answers with 1 while paused', async (t) => {
    const paused = {
      state: 'paused',
      mode: 'reject',
      reason: 'move',
      until: '2026-01-01T00:30:00.000Z',
      since: null,
      by: 'token:default',
    };
    const host = await cannedHost(t, {
      'PUT /api/system/ingress': ({ body }) => ({ json: { ...paused, ...(body as object) } }),
      'GET /api/system/ingress': { json: paused },
      'GET /api/system/status': { json: { inbox: { items: 7, bytes: 700 } } },
    });
    const context = capturedContext(host.url);

    const before = Date.now();
    await pick(ingress, 'pause').run(context, [], { mode: 'reject', reason: 'move', for: '1h30m' });
    const change = host.asked[0]?.body as Record<string, string>;
    const statusCode = await pick(ingress, 'status').run(context, [], {});
    await pick(ingress, 'resume').run(context, [], {});

    const untilMs = Date.parse(change['until'] ?? '') - 5_400_000;
    assert.ok(untilMs >= before && untilMs <= Date.now());
    assert.deepEqual([change['state'], change['mode'], change['reason']], ['paused', 'reject', 'move']);
    assert.equal(statusCode, 1);
    assert.equal(context.out.filter((line) => line === 'waiting: 7 messages').length, 1);
    assert.deepEqual(host.asked.at(-1)?.body, { state: 'open' });
    assert.equal(context.out.at(-1), 'ingress is open');
    for (const wrong of ['30', 'm', '0s', '1x', '10m10', '9999999d']) {
      await assert.rejects(pick(ingress, 'pause').run(context, [], { for: wrong }), { code: 'usage' });
    }
  });
});

describe('svc plugins', () => {
  it('lists the plugins of the current generation, who is asked before whom, and what else they registered', async (t) => {
    const host = await cannedHost(t, {
      'GET /api/plugins': {
        json: {
          plugins: [{ slot: 'ping', name: 'ping', capabilities: ['root/ping#task/t', 'root/ping#command/ping'] }],
          order: [{ asked: 'claims', about: 'message', capability: 'root/ping#command/ping' }],
        },
      },
    });
    const context = capturedContext(host.url);

    await plugins.run(context, [], {});

    assert.deepEqual(context.out, [
      'slot | name',
      'ping | ping',
      '',
      'asked | about | capability',
      'claims | message | root/ping#command/ping',
      '- | - | root/ping#task/t',
    ]);
  });
});
