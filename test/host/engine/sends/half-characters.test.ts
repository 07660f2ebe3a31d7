// Half of an emoji (a lone surrogate) in what a plugin says and in what comes in: U+FFFD stands in its place, on the way out and on the way in.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wellFormed } from '../../../../shared/log/well-formed.ts';
import { storedOf } from '../../../../worker/handling/effects/stored-content.ts';
import { compose } from '../../../../worker/outbox/compose.ts';
import { BUILT_INS } from '../../../../worker/runtime/loading/built-ins.ts';
import type { Can, Link } from '../../../../worker/sdk/index.ts';
import {
  type Arrival,
  defineAdapter,
  defineEvent,
  definePlugin,
  type Outgoing,
  t,
} from '../../../../worker/sdk/index.ts';
import { startBot } from '../../../../worker/testing/start-bot.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const HALF = 'a\ud83d b';
const WHOLE = 'a\ufffd b';
const noHalves = (value: unknown, message?: string): void => {
  assert.doesNotMatch(JSON.stringify(value) ?? '', /\\ud[89a-f]/, message);
};

it('nothing that goes to a platform or comes from it has half a character', async (context) => {
  const calls: Outgoing[] = [];
  const announced: unknown[] = [];
  const heard: unknown[] = [];
  const account: { link?: Link<Record<string, unknown>> } = {};
  const adapter = defineAdapter({
    name: 'wire',
    account: {},
    // A renderer that cuts an emoji in two, as a careless adapter does.
    can: {
      text: { limit: 1_000, unit: 'utf16', render: ({ segments }) => `${JSON.stringify(segments)}\ud83d` },
      edit: true,
      react: true,
      buttons: 5,
      files: { maxBytes: 1_000 },
      idempotent: true,
    },
    connect: (link) => {
      account.link = link as never;
      link.online();
      return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
    },
    announce: async (commands) => void announced.push(commands),
    async send(call) {
      calls.push(call);
      return { kind: 'sent', message: `m${calls.length}` };
    },
  });
  const told = defineEvent('plugin.x.told', t.object({ text: t.string() }));
  const plugin = definePlugin({
    name: 'x',
    setup(p) {
      const press = p.action('press', { data: {} }, () => {});
      p.command('go', { summary: HALF }, async (ctx) => {
        const file = await ctx.saveFile(`${HALF}.txt`, 'text/plain', new TextEncoder().encode('x'));
        const sent = ctx.reply({ text: HALF, buttons: [press.button(HALF, {})], files: [file] });
        ctx.edit(sent, HALF);
        ctx.react(sent, HALF);
        ctx.emit(told, { text: HALF });
      });
      p.on('message', {}, (ctx, message) => void heard.push([message.text, message.files, message.segments, ctx.user]));
    },
  });
  const host = await engineHost(context, { modules: { wire: adapter, x: plugin } });
  const arrival = (id: string, text: string): Arrival => ({
    id,
    kind: 'message',
    message: id,
    text: [{ kind: 'text', text }],
    files: [{ id: 'f', name: HALF, mime: 'text/plain', bytes: 1 }],
    sentAt: 0,
    conversation: { id: 'c', kind: 'private', name: HALF },
    user: { id: 'u', name: HALF, admin: false },
  });

  await account.link?.receive([arrival('1', HALF), arrival('2', '/go')]);
  await host.until('the sends', () => calls.length === 3);
  await host.quiet();

  assert.deepEqual(
    calls.map(({ kind }) => kind),
    ['post', 'edit', 'react'],
  );
  for (const value of [calls, announced, heard]) noHalves(value);
  assert.match(JSON.stringify(calls), /a\ufffd b/u);
  assert.match(JSON.stringify(announced), /a\ufffd b/u);
  assert.equal((heard[0] as string[])[0], WHOLE);
  assert.deepEqual(host.events('plugin.x.told')[0]?.data, { text: WHOLE });
  assert.ok(
    !host.rows<{ payload: string }>('SELECT * FROM inbox').some((row) => /\\ud[89a-f]/.test(JSON.stringify(row))),
  );
});

it('every adapter renders half a character as U+FFFD', async () => {
  for (const [name, load] of Object.entries(BUILT_INS)) {
    const { can } = (await load()) as { readonly can?: Can };
    if (can === undefined) continue;
    const parts = compose(storedOf({ text: HALF }, [{ label: HALF, token: 't' }]), can, { private: true });
    noHalves(parts, name);
    assert.ok(
      parts.some((part) => part.kind !== 'refused' && part.text.includes('a\ufffd b')),
      `${name}: ${JSON.stringify(parts)}`,
    );
  }
});

it('a webhook of a plugin gets U+FFFD for half a character of its body', async () => {
  const bodies: unknown[] = [];
  const plugin = definePlugin({
    name: 'x',
    setup: (p) =>
      p.webhook(
        'done',
        { body: t.object({ text: t.string() }), delivery: () => '1', verify: () => ({ kind: 'ok' }) },
        (_ctx, { body }) => void bodies.push(body),
      ),
  });
  const bot = await startBot(plugin);
  await bot.post('x/done', { body: '{"text":"a\\ud83d b"}' });
  assert.deepEqual(bodies, [{ text: WHOLE }]);
  await bot.stop();
});

it('data without half characters is not copied, and other objects are left alone', () => {
  const at = new Date(0);
  const whole = { text: '👍', list: [1, null, { at }] };
  assert.equal(wellFormed(whole), whole);
  const half: Record<string, unknown> = wellFormed({ [HALF]: [at, HALF, 5], whole });
  assert.deepEqual(Object.keys(half), [WHOLE, 'whole']);
  assert.equal(half['whole'], whole);
  assert.equal((half[WHOLE] as unknown[])[0], at);
  assert.deepEqual(wellFormed('\udc00👍\ud83d'), '\ufffd👍\ufffd');
});
