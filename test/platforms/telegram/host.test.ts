// Bots of Telegram at the whole host: polling over kills, a revoked token, a webhook that is registered and delivered to.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const person = (id: number) => ({ id, is_bot: false, first_name: `P${id}` });
const says = (id: number, text: string) => ({
  message: { message_id: 1, date: 1, chat: { ...person(id), type: 'private' }, from: person(id), text },
});
const SECRET = 'a_secret-of-the-webhook';
const ALBUM = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'album', setup(p) {
  p.command('album', { summary: 'Shows files' }, async (ctx) => {
    const files = [];
    for (const name of ['a.txt', 'b.png']) files.push(await ctx.saveFile(name, name === 'a.txt' ? 'text/plain' : 'image/png', Buffer.from(name)));
    return { text: 'see these', files };
  });
} });
`;

async function hostWithBots(t: TestContext) {
  const telegram = await new FakeTelegram().listen(t);
  // The same ids in both: they are of different bots.
  const [main, shop] = [telegram.bot(42, 'main_bot'), telegram.bot(43, 'shop_bot')];
  const host = await runningHost(t, {
    http: { publicUrl: 'https://bot.example' },
    plugins: {
      telegram: {
        endpoints: [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
          { id: 'main', token: '${MAIN_TOKEN}', apiUrl: telegram.url },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
          { id: 'shop', token: '${SHOP_TOKEN}', mode: 'webhook', secrets: ['${SHOP_SECRET}'], apiUrl: telegram.url },
        ],
      },
      echo: {},
      album: { use: './plugins/album.js' },
    },
    env: { MAIN_TOKEN: main, SHOP_TOKEN: shop, SHOP_SECRET: SECRET },
    sources: { 'album.js': ALBUM },
  });
  const texts = (chat: number): readonly string[] => telegram.messages(chat).map(({ text }) => text);
  return { telegram, host, main, shop, texts };
}

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly lastError: { readonly reason?: string; readonly remedy?: string } | null;
}
const endpoint = async (host: RunningHost, name: string): Promise<Shown | undefined> =>
  ((await host.get('api/endpoints')) as { readonly endpoints: readonly Shown[] }).endpoints.find(
    (one) => one.name === name,
  );
const isState = async (host: RunningHost, name: string, state: string): Promise<boolean> =>
  (await endpoint(host, name))?.state === state;

describe('telegram at the whole host', { timeout: 590_000 }, () => {
  it('loses and doubles nothing over kills: stored and not answered, while it was down', async (t) => {
    const { telegram, host, main, texts } = await hostWithBots(t);
    telegram.happens(main, says(5, '/echo one'));
    await until(() => texts(5).length === 1, { what: 'the first answer' });

    // Two conversations are answered at once; neither call gets through before the kill.
    telegram.next('sendMessage', 'hold', 'hold');
    telegram.happens(main, says(5, '/echo two'));
    telegram.happens(main, says(6, '/echo other'));
    await until(() => telegram.held === 2 && telegram.confirmed(main).length === 3, {
      what: 'both to be stored, confirmed, and not answered',
    });
    await host.stop('SIGKILL');
    telegram.happens(main, says(5, '/echo three'));
    await host.start();
    await until(() => texts(5).length === 3 && texts(6).length === 1, { what: 'all answers' });
    await host.stop();
    await host.start();
    telegram.happens(main, says(5, '/echo four'));
    await until(() => texts(5).includes('four'), { what: 'the answer after a restart' });

    assert.deepEqual(texts(5), ['one', 'two', 'three', 'four']);
    assert.deepEqual(texts(6), ['other']);
    const { items } = (await host.get('api/inbox')) as { readonly items: readonly { readonly state: string }[] };
    assert.deepEqual(
      items.map(({ state }) => state),
      Array(5).fill('done'),
    );
    assert.deepEqual(
      telegram.called('setMyCommands').map(({ commands }) => (commands as { command: string }[])[0]?.command),
      Array(telegram.called('setMyCommands').length).fill('echo'),
    );
  });

  it('says again after a kill no more than the call that was on its way, of a text with files', async (t) => {
    const { telegram, host, main } = await hostWithBots(t);
    telegram.next('sendDocument', 'hold');
    telegram.happens(main, says(5, '/album'));
    await until(() => telegram.held === 1, { what: 'the last of three calls, without an answer' });

    await host.stop('SIGKILL');
    await host.start();
    await until(() => telegram.messages(5).length >= 3, { what: 'all of it' });
    telegram.happens(main, says(5, '/echo last'));
    await until(() => telegram.messages(5).some(({ text }) => text === 'last'), { what: 'what comes behind it' });

    assert.deepEqual(
      telegram.messages(5).map(({ text, file }) => text || file),
      ['see these', 'b.png: b.png', 'a.txt: a.txt', 'last'],
    );
  });

  it('ends a revoked token as failed with the remedy, asks no more, and serves the other bot', async (t) => {
    const { telegram, host, main } = await hostWithBots(t);
    await until(() => telegram.isPolled(main), { what: 'the poll' });
    telegram.revoke(main);

    await until(() => isState(host, 'telegram~main', 'failed'), { what: 'the account to fail' });
    const failed = await endpoint(host, 'telegram~main');
    assert.match(failed?.lastError?.reason ?? '', /401 Unauthorized/);
    assert.match(failed?.lastError?.remedy ?? '', /BotFather/);
    await until(() => isState(host, 'telegram~shop', 'degraded'), {
      what: 'the other account, of which Telegram has no address',
    });
    assert.ok(!host.output().includes(main.split(':')[1] ?? main));
  });

  it('prints and registers the address of a webhook, and takes what is delivered there once', async (t) => {
    const { telegram, host, shop, texts } = await hostWithBots(t);
    await until(() => isState(host, 'telegram~shop', 'degraded'), {
      what: 'the account, of which Telegram has no address',
    });
    const cwd = host.project.path;

    const [url, all, registered, polling] = [
      await svc(['webhooks', 'url', 'telegram~shop'], { cwd }),
      await svc(['webhooks', 'url', '--json'], { cwd }),
      await svc(['webhooks', 'register', 'telegram~shop'], { cwd }),
      await svc(['webhooks', 'register', 'telegram~main'], { cwd }),
    ];
    assert.equal(url.stdout, 'https://bot.example/webhooks/telegram/shop\n');
    assert.deepEqual(
      (JSON.parse(all.stdout) as { webhooks: { endpoint: string }[] }).webhooks.map((one) => one.endpoint),
      ['root/telegram:telegram~shop'],
    );
    assert.deepEqual([registered.code, polling.code], [0, 1]);
    assert.match(polling.stderr, /takes no webhooks/);
    telegram.next('setWebhook', { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: no' } });
    const refused = await svc(['webhooks', 'register', 'telegram~shop'], { cwd });
    assert.match(refused.stderr, /Bad Request: no/);
    assert.doesNotMatch(host.output(), /request failed|"stack"/, 'what the platform says is no failure of the host');
    assert.match(host.output(), /the platform refused a request/);
    assert.deepEqual(
      [telegram.webhook(shop)['url'], telegram.webhook(shop)['secret_token']],
      ['https://bot.example/webhooks/telegram/shop', SECRET],
    );

    const deliver = (update: object, secret = SECRET) =>
      fetch(`${host.url}webhooks/telegram/shop`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
        body: JSON.stringify(update),
      });
    const update = { update_id: 10_000, ...says(7, '/echo shop') };
    assert.equal((await deliver(update, 'wrong')).status, 401);
    assert.equal((await deliver(update)).status, 200);
    assert.equal((await deliver(update)).status, 200);
    await host.stop('SIGKILL');
    await host.start();
    await until(async () => (await deliver(update)).status === 200, { what: 'the same delivery to be acknowledged' });
    const pressed = {
      id: 'q9',
      from: person(7),
      chat_instance: 'c',
      data: 'unknown',
      message: { message_id: 1, date: 1 },
    };
    const answer = await deliver({
      update_id: 10_001,
      callback_query: { ...pressed, message: { ...pressed.message, chat: { ...person(7), type: 'private' } } },
    });
    assert.deepEqual(await answer.json(), { method: 'answerCallbackQuery', callback_query_id: 'q9' });
    await deliver({ update_id: 10_002, ...says(7, '/echo last') });
    await until(() => texts(7).includes('last'), { what: 'the last answer' });
    // The kill may have met the first answer between the call and its note: Telegram knows no keys.
    assert.deepEqual([...new Set(texts(7))], ['shop', 'last']);
    assert.ok(texts(7).length <= 3);
    for (const hidden of [SECRET, shop.split(':')[1] ?? shop]) assert.ok(!host.output().includes(hidden));
  });
});
