import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../supervisor/cli/command.ts';
import { commands } from '../../../supervisor/cli/commands/webhooks.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { cannedHost } from '../../support/http/canned-host.ts';

function pick(verb: string): Command {
  const found = commands.find((command) => command.verb === verb);
  assert.ok(found !== undefined);
  return found;
}
const BOT = {
  endpoint: 'root/telegram:telegram~main',
  path: '/webhooks/telegram/main',
  url: 'https://bot.example/webhooks/telegram/main',
  registers: true,
};
const HOOK = {
  endpoint: 'root/notify#webhook/issues',
  path: '/webhooks/notify/issues',
  url: 'https://bot.example/webhooks/notify/issues',
  registers: false,
};

describe('svc webhooks', () => {
  it('prints all addresses, and how each is registered', async (t) => {
    const host = await cannedHost(t, { 'GET /api/webhooks': { json: { webhooks: [BOT, HOOK] } } });
    const context = capturedContext(host.url);

    assert.equal(await pick('url').run(context, [undefined as never], {}), 0);

    assert.deepEqual(context.out.slice(1), [
      `${BOT.endpoint} | ${BOT.url} | svc webhooks register telegram~main`,
      `${HOOK.endpoint} | ${HOOK.url} | on the platform's pages`,
    ]);
    assert.deepEqual(context.notes, []);
  });

  it('prints the address of one endpoint alone, so that a script can use it', async (t) => {
    const host = await cannedHost(t, { 'GET /api/webhooks': { json: { webhooks: [BOT, HOOK] } } });

    for (const name of ['telegram~main', BOT.endpoint]) {
      const context = capturedContext(host.url);
      await pick('url').run(context, [name], {});
      assert.deepEqual(context.out, [BOT.url]);
    }
    await assert.rejects(pick('url').run(capturedContext(host.url), ['telegram~other'], {}), { code: 'not_found' });
  });

  it('prints the path where the public address is not configured, and says so', async (t) => {
    const host = await cannedHost(t, { 'GET /api/webhooks': { json: { webhooks: [{ ...BOT, url: null }] } } });
    const context = capturedContext(host.url);

    await pick('url').run(context, ['telegram~main'], {});

    assert.deepEqual(context.out, [BOT.path]);
    assert.match(context.notes[0] ?? '', /http\.publicUrl/);
  });

  it('registers one under an idempotency key', async (t) => {
    const path = 'POST /api/webhooks/root/telegram:telegram~main/register';
    const host = await cannedHost(t, { [path]: { json: { ...BOT, done: 'registered' } } });
    const context = capturedContext(host.url);

    assert.equal(await pick('register').run(context, [BOT.endpoint], {}), 0);

    assert.deepEqual(context.out, [`${BOT.url}: registered`]);
    assert.ok(String(host.asked[0]?.headers['idempotency-key']).length > 10);
  });
});
