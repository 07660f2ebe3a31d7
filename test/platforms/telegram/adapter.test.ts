// The life of an account of the adapter telegram at the fake Bot API server, which telegram-client.test.ts holds to the documentation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect, WAITS } from '../../../worker/adapters/telegram/connect.ts';
import { t as schema } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { adapterLink } from '../../support/accounts/adapter-link.ts';
import {
  ANN,
  telegramAdapter as adapter,
  telegramBench as bench,
  CHAT,
  says,
} from '../../support/accounts/telegram-bench.ts';
import { until } from '../../support/until.ts';

const textsOf = (arrivals: readonly object[]): readonly unknown[] => arrivals.map((one) => 'text' in one && one.text);

describe('telegram: an account that polls', { timeout: 590_000 }, () => {
  it('gets what waited and what comes, confirms only what is stored, and ends when told', async (t) => {
    const { telegram, token, open, cursors } = await bench(t);
    telegram.happens(token, says('while away'));
    const { link, ended } = open();
    await until(() => link.arrivals.length === 1 && telegram.isPolled(token), { what: 'what waited' });
    telegram.happens(token, says('now'));
    await until(() => link.arrivals.length === 2 && telegram.isPolled(token), { what: 'what came' });

    assert.deepEqual(textsOf(link.arrivals), ['while away', 'now']);
    assert.deepEqual(cursors, ['42:10001', '42:10002']);
    assert.deepEqual(telegram.confirmed(token), [10_000, 10_001]);
    link.stop();
    assert.equal(await ended, undefined);
  });

  it('does not confirm what could not be stored: it comes again', async (t) => {
    let isFull = true;
    const { telegram, token, open } = await bench(t, {
      store: async () => {
        if (isFull) throw new Error('disk full');
      },
    });
    telegram.happens(token, says('once'));
    const first = open();

    assert.match(String(await first.ended), /disk full/);
    assert.deepEqual(telegram.confirmed(token), []);
    isFull = false;
    const second = open();
    await until(() => second.link.arrivals.length === 1, { what: 'the same again' });
    assert.equal(second.link.arrivals[0]?.id, '42:10000');
  });

  it('goes on from its cursor, also where ids have started anew, and not from that of another bot', async (t) => {
    const { telegram, token, open, cursors } = await bench(t);
    telegram.happens(token, says('known'));
    telegram.happens(token, says('new'));
    const { link } = open('42:10001');
    await until(() => link.arrivals.length === 1 && telegram.isPolled(token), { what: 'what is new' });
    assert.deepEqual(textsOf(link.arrivals), ['new']);

    telegram.restartIds(token, 500);
    telegram.happens(token, says('after a week'));
    await until(() => link.arrivals.length === 2 && telegram.isPolled(token), { what: 'what has a lower id' });
    assert.equal(cursors.at(-1), '42:501');
    link.stop();

    telegram.happens(token, says('to the new bot'));
    // Near enough that Telegram would take what is below it for confirmed.
    const other = open('41:502');
    await until(() => other.link.arrivals.length === 1, { what: 'what waited for this bot' });
  });

  it('ends as failed with a remedy when the token is revoked, now or before', async (t) => {
    const { telegram, token, open, send, account } = await bench(t);
    const { link, ended } = open();
    await until(() => link.isOnline && telegram.isPolled(token), { what: 'the first poll' });
    telegram.revoke(token);

    const error = await ended;
    assert.deepEqual([error?.code, /BotFather/.test(error?.remedy ?? '')], ['account_failed', true]);
    assert.ok(!String(error?.message).includes(account.token.reveal()));
    assert.equal((await open().ended)?.code, 'account_failed');
    await assert.rejects(send({ kind: 'post', text: 'x' }), { code: 'account_failed' });
  });

  it('fails an account that can never work before anything is asked of Telegram', async (t) => {
    for (const change of [
      { token: secret('not a token') },
      { mode: 'webhook' as const },
      { mode: 'webhook' as const, secrets: [secret('not allowed!')] },
    ]) {
      const { telegram, open } = await bench(t, { change });
      assert.equal((await open().ended)?.code, 'account_failed');
      assert.equal(telegram.calls.length, 0);
    }
  });

  it('takes a webhook away that somebody left, waits when told, and loses its connection otherwise', async (t) => {
    const { telegram, token, open } = await bench(t);
    await fetch(`${telegram.url}/bot${token}/setWebhook?url=https%3A%2F%2Fold.example`);
    telegram.happens(token, says('kept'));
    telegram.next('getUpdates', {
      status: 429,
      body: { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 0.05 } },
    });
    const { link, ended } = open();
    await until(() => link.arrivals.length === 1 && telegram.isPolled(token), { what: 'what waited' });
    assert.deepEqual(telegram.webhook(token), {});

    telegram.next('getUpdates', { status: 502 });
    telegram.happens(token, says('wakes the poll'));
    assert.match(String(await ended), /502/);
    const { ended: refused } = open();
    await until(() => telegram.isPolled(token), { what: 'a new poll' });
    await fetch(`${telegram.url}/bot${token}/getUpdates?timeout=0`);
    assert.match(String(await refused), /other getUpdates/);
  });

  it('knows who administers a group before it hands a command on, and asks once', async (t) => {
    const { telegram, token, open } = await bench(t);
    const chat = { id: -100_9, type: 'supergroup', title: 'Team' };
    const entities = [{ type: 'bot_command', offset: 0, length: 5 }];
    const command = (from: object) => ({ message: { message_id: 1, date: 1, chat, from, text: '/stop', entities } });
    telegram.chats.administrators.push(5);
    telegram.happens(token, command(ANN));
    telegram.happens(token, command({ ...ANN, id: 6 }));
    const { link } = open();
    await until(() => link.arrivals.length === 2 && telegram.isPolled(token), { what: 'both' });
    telegram.happens(token, command(ANN));
    await until(() => link.arrivals.length === 3, { what: 'the third' });

    assert.deepEqual(
      link.arrivals.map(({ user }) => user.admin),
      [true, false, true],
    );
    assert.equal(telegram.called('getChatAdministrators').length, 1);
  });

  it('announces a command whose words are too long for the menu, without half a character', async (t) => {
    const { telegram, link } = await bench(t);
    const summary = `${'x'.repeat(255)}🙂 and more`;

    await adapter.announce?.([{ name: 'long', summary, args: schema.object({}) }], link);

    const [{ commands }] = telegram.called('setMyCommands') as [{ commands: readonly { description: string }[] }];
    assert.equal(commands[0]?.description, 'x'.repeat(255));
  });

  it('ends the waiting of a pressed button', async (t) => {
    const { telegram, token, open } = await bench(t);
    const { link } = open();
    const message = { message_id: 3, date: 1, chat: CHAT };
    telegram.happens(token, { callback_query: { id: 'q1', from: ANN, chat_instance: 'c', data: 'tok', message } });

    await until(() => telegram.chats.answered.length === 1, { what: 'the answer to the query' });
    const [pressed] = link.arrivals;
    assert.ok(pressed?.kind === 'pressed');
    assert.deepEqual([pressed.token, pressed.message], ['tok', '3']);
  });
});

describe('telegram: a webhook', { timeout: 590_000 }, () => {
  it('registers with the first secret, takes every one, in constant time and only here', async (t) => {
    const secrets = [secret('new_secret'), secret('old_secret')];
    const { telegram, token, account, open, link } = await bench(t, { change: { mode: 'webhook', secrets } });
    const request = (headers: Record<string, string>) => ({
      method: 'POST',
      path: '',
      query: {},
      headers,
      body: Buffer.from('{"update_id":1}'),
      receivedAt: 1,
    });
    const verdict = (given: Record<string, string>, of = account) => adapter.webhook?.verify(request(given), of).kind;
    const header = 'x-telegram-bot-api-secret-token';

    assert.equal(verdict({ [header]: 'new_secret' }), 'handshake'); // its own name is not known yet: 503, sent again
    const life = open();
    await until(() => life.link.isOnline, { what: 'the account to be up' });
    assert.deepEqual(
      [
        { [header]: 'new_secret' },
        { [header]: 'old_secret' },
        { [header]: 'old_secret ' },
        { [header]: '' },
        {},
        { [header]: token },
        { authorization: 'new_secret' },
      ].map((given) => verdict(given)),
      ['ok', 'ok', 'refused', 'refused', 'refused', 'refused', 'refused'],
    );
    assert.equal(verdict({ [header]: '' }, { ...account, secrets: [secret('')] }), 'refused');
    assert.equal(verdict({ [header]: 'new_secret' }, { ...account, mode: 'polling' }), 'refused');

    telegram.happens(token, says('waits'));
    assert.match((await adapter.webhook?.register?.('https://bot.example/x', link)) ?? '', /1 updates wait/);
    const { url, secret_token, allowed_updates } = telegram.webhook(token);
    assert.deepEqual([url, secret_token], ['https://bot.example/x', 'new_secret']);
    assert.ok((allowed_updates as string[]).includes('message_reaction'));
    await assert.rejects(adapter.webhook?.register?.('http://bot.example/x', link) ?? Promise.resolve(), /HTTPS URL/);
  });

  it('is asked about again and again: a revoked token fails the account, an address that is gone is said once', async (t) => {
    const { telegram, token, account } = await bench(t, { change: { mode: 'webhook', secrets: [secret('s')] } });
    const base = adapterLink(account);
    const said: unknown[] = [];
    const log = { ...base.log, warn: (fields: object | string) => void said.push(fields) };
    const ended = connect(
      { ...base, log, signal: new AbortController().signal },
      { ...WAITS, checkMs: 1, recheckMs: 1 },
    ).catch((error: unknown) => error);
    await until(() => telegram.called('getWebhookInfo').length > 5, { what: 'some checks' });
    telegram.revoke(token);

    assert.equal(((await ended) as { code?: string }).code, 'account_failed');
    assert.equal(said.length, 1);
    assert.match(JSON.stringify(said), /svc webhooks register test/);
  });

  it('makes the account degraded where nothing is delivered, until something is', async (t) => {
    const { telegram, token, account } = await bench(t, { change: { mode: 'webhook', secrets: [secret('s')] } });
    const link = adapterLink(account);
    t.after(() => link.stop());
    connect(link, { ...WAITS, checkMs: 1, recheckMs: 1 }).catch(() => {});
    const set = (url: string): Promise<unknown> =>
      fetch(`${telegram.url}/bot${token}/setWebhook?url=${encodeURIComponent(url)}`);

    await until(() => link.trouble !== undefined, { what: 'the lack of an address' });
    const { trouble: unknown, isOnline } = link;
    await set('https://bot.example/x');
    await until(() => link.trouble === undefined, { what: 'the address' });
    telegram.deliveryFailed(token, new Date(), 'Connection refused');
    telegram.happens(token, says('waits'));
    await until(() => link.trouble !== undefined, { what: 'the failure' });
    const { trouble: failing } = link;
    telegram.deliveryFailed(token, new Date(Date.now() - 86_400_000), 'Connection refused');
    await until(() => link.trouble === undefined, { what: 'its end' });

    assert.equal(isOnline, true, 'it takes sends meanwhile');
    assert.match(unknown ?? '', /knows no address.*svc webhooks register test/);
    assert.match(failing ?? '', /Connection refused/);
  });

  it('is well as soon as its address is registered, not at the next look', async (t) => {
    const { account } = await bench(t, { change: { mode: 'webhook', secrets: [secret('s')] } });
    const link = adapterLink(account);
    t.after(() => link.stop());
    connect(link, { ...WAITS, checkMs: 3_600_000, recheckMs: 3_600_000 }).catch(() => {});
    await until(() => link.trouble !== undefined, { what: 'the lack of an address' });

    await adapter.webhook?.register?.('https://bot.example/x', link);

    await until(() => link.trouble === undefined, { what: 'the account to be well' });
  });

  it('does not call an address that was just registered wrong for what failed before', async (t) => {
    const { telegram, token, account } = await bench(t, { change: { mode: 'webhook', secrets: [secret('s')] } });
    const link = adapterLink(account);
    t.after(() => link.stop());
    await adapter.webhook?.register?.('https://bot.example/x', link);
    telegram.deliveryFailed(token, new Date(Date.now() - 5_000), 'Wrong response from the webhook: 401 Unauthorized');
    telegram.happens(token, says('waits'));
    connect(link, { ...WAITS, checkMs: 1, recheckMs: 1 }).catch(() => {});
    await until(() => link.trouble !== undefined, { what: 'the failure' });

    await adapter.webhook?.register?.('https://bot.example/x', link);
    await until(() => link.trouble === undefined, { what: 'the account to be well' });
    telegram.deliveryFailed(token, new Date(), 'Wrong response from the webhook: 502 Bad Gateway');

    await until(() => link.trouble?.includes('502'), { what: 'the next failure' });
  });
});
