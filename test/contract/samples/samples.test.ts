import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { definePlugin, parse, t } from 'svc';
import { adapterContract, everyCrash, loopback, testBot } from 'svc/testing';
import echo from './echo.ts';
import remind from './remind.ts';
import poll from './poll.ts';
import github from './github-notify.ts';
import order from './order.ts';
import ticket from './ticket.ts';
import pigeon from './pigeon.ts';
// ---- test/contract/samples.test.ts
const sign = (text: string, secret: string) => createHmac('sha256', secret).update(text).digest('hex');
test('echo says it back as literal text', async () => {
  const bot = await testBot(echo); await bot.person('ann').says('/echo **hello** @everyone');
  assert.deepEqual([bot.shown('dm-ann'), bot.help()], [['\\*\\*hello\\*\\* @everyone'], '/echo <text…>  Says it back']);
});
test('remind reminds once, killed at any point', () => everyCrash(() => testBot(remind), async (bot) => {
  await bot.person('ann').says('remind me in 10m to drink tea'); await bot.restart(); await bot.clock.advance('11m');
}, (bot, point) => assert.deepEqual(bot.shown('dm-ann'), ['I will remind you in 10m.', '@ann reminder: drink tea'], point)));
test('poll counts one vote a person, by edits, over a restart; by numbers where there are no buttons and no edits', async () => {
  const bot = await testBot(poll), plain = await testBot(poll, { can: { buttons: 0, edit: false } });
  await bot.person('ann', { in: 'room' }).says('/poll "Lunch?" pizza sushi'); await bot.restart();
  for (const label of ['pizza', 'sushi']) await bot.person('ann', { in: 'room' }).presses(label);
  for (const line of ['/poll "Lunch?" pizza sushi', '2']) await plain.person('bob', { in: '#irc' }).says(line);
  assert.deepEqual([bot.shown('room'), plain.shown('#irc')], [['**Lunch?** (1 votes)'], ['**Lunch?** (0 votes)\n1) pizza: 0\n2) sushi: 0', '**Lunch?** (1 votes)\n1) pizza: 0\n2) sushi: 1']]);
});
test('github-notify tells each delivery once, killed at any point, and refuses a wrong signature', () => everyCrash(() => testBot(github, { config: { secret: 's3cret', to: { endpoint: 'fake', id: 'dev' } } }), async (bot) => {
  const body = JSON.stringify({ action: 'opened', sender: { login: 'ann' }, repository: { full_name: 'a/b' }, issue: { number: 7, title: 'x](y) *z*', html_url: 'https://example.org/7' } });
  for (const [secret, id, status] of [['wrong', '1', 401], ['s3cret', '1', 202], ['s3cret', '1', 202], ['s3cret', '2', 202]] as const)
    assert.equal((await bot.post('github-notify/issues', { body, headers: { 'x-github-event': 'issues', 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${sign(body, secret)}` } })).status, status);
}, (bot, point) => assert.deepEqual(bot.shown('dev'), Array(2).fill('**a/b** #7 opened by ann: [x\\](y) \\*z\\*](https://example.org/7)'), point)));
test('order asks for what is missing, over restarts and kills; other code goes on with what is known', async () => {
  await everyCrash(() => testBot(order), async (bot) => {
    for (const line of ['/order', 'large', '12 High Street', 'yes']) { await bot.person('ann').says(line); await bot.restart(); }
  }, (bot, point) => assert.deepEqual(bot.shown('dm-ann'), ['Which size?', 'Where to?', 'As a gift?', 'A large one goes to 12 High Street, as a gift.'], point));
  const bot = await testBot(order), phone = t.string({ title: 'Your number?' });
  await bot.person('ann').says('/order small'); await bot.restart(definePlugin({ name: 'order', setup(p) { p.dialog('order', { answers: { phone, size: t.string() } }, (_ctx, { size, phone }) => `${size} ${phone}`); } }));
  await bot.person('ann').says('555'); assert.deepEqual(bot.shown('dm-ann'), ['Where to?', 'small 555']);
});
test('ticket is opened once, killed at any point', async (test) => {
  const tickets = new Map<string | undefined, number>();
  const url = await loopback(test, ({ headers: { 'idempotency-key': key } }) => { tickets.set(key, tickets.get(key) ?? tickets.size + 1); return { json: { number: tickets.get(key) } }; });
  await everyCrash(() => { tickets.clear(); return testBot(ticket, { config: { url, token: 'abc' } }); }, (bot) => bot.person('ann').says('/ticket The door is stuck'),
    (bot, point) => assert.deepEqual([bot.shown('dm-ann'), tickets.size], [['Ticket 1 is open.'], 1], point));
});
const events = [1, 2, 3].map((n) => ({ id: `e${n}`, type: 'message', room: { id: 'r', kind: 'group' }, message: `m${n}`, at: n, from: { id: `u${n}`, name: '', me: n === 2 }, text: 'hi' }));
adapterContract(pigeon, { account: (url) => ({ url, token: 'tok', signing: 'sgn' }), secrets: ['tok', 'sgn'], history: ['e1', 'e3'],
  good() {
    const body = Buffer.from(JSON.stringify({ events, cursor: '' })), at = 1_767_000_000, signature = sign(`${at}.${body.toString()}`, 'sgn');
    return { method: 'POST', path: '', query: {}, body, receivedAt: at * 1_000, headers: { 'pigeon-signature': `t=${at},v1=${signature}` } };
  },
  platform({ method, query, body }) {
    if (method === 'GET') return { json: { events: events.slice(Number(query['after'])).slice(0, 2), cursor: `${Math.min(Number(query['after']) + 2, 3)}` } };
    return { status: 201, json: { id: `p-${parse(t.object({ client_id: t.string() }), JSON.parse(Buffer.from(body).toString())).client_id}` } };
  } });
