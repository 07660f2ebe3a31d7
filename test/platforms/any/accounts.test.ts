// Twenty accounts of one platform in one host: half polled, half by webhook, all with the same people, the same ids of messages and of updates.
// One cannot be reached, the token of one is revoked, one never answers a call: the other seventeen do not notice.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { freePort } from '../../support/free-port.ts';
import { COUNTING } from '../../support/hosts/counting-plugin.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const ACCOUNTS = 20;
const [UNREACHABLE, REVOKED, STUCK] = [1, 2, 4] as const;
const CHAT = 5;
const FIRST_UPDATE = 10_000;
const ANN = { id: CHAT, is_bot: false, first_name: 'Ann' };

interface Account {
  readonly index: number;
  readonly name: string;
  readonly isHooked: boolean;
  readonly token: string;
  readonly secret: string;
  readonly telegram: FakeTelegram;
}

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly lastError: { readonly reason?: string; readonly remedy?: string } | null;
}

async function hostWithAccounts(t: TestContext) {
  const [telegram, stuck] = [await new FakeTelegram().listen(t), await new FakeTelegram().listen(t)];
  stuck.next('sendMessage', 'hold', 'hold', 'hold', 'hold');
  const accounts = Array.from({ length: ACCOUNTS }, (_, index): Account => {
    const server = index === STUCK ? stuck : telegram;
    const token = server.bot(100 + index, `bot_${index}_bot`, FIRST_UPDATE);
    return {
      index,
      name: `telegram~a${index}`,
      isHooked: index % 2 === 1 && index !== UNREACHABLE,
      token,
      secret: `a_secret-of-account_${index}`,
      telegram: server,
    };
  });
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const endpoints = accounts.map(({ index, isHooked, telegram: { url } }) => ({
    id: `a${index}`,
    token: `\${TOKEN_${index}}`,
    apiUrl: index === UNREACHABLE ? nowhere : url,
    ...(isHooked ? { mode: 'webhook', secrets: [`\${SECRET_${index}}`] } : {}),
  }));
  const host = await runningHost(t, {
    http: { publicUrl: 'https://bot.example' },
    plugins: { telegram: { endpoints }, counting: { use: './plugins/counting.mjs' } },
    env: Object.fromEntries(
      accounts.flatMap(({ index, token, secret }) => [
        [`TOKEN_${index}`, token],
        [`SECRET_${index}`, secret],
      ]),
    ),
    sources: { 'counting.mjs': COUNTING },
  });
  telegram.revoke(accounts[REVOKED]?.token ?? '');
  const healthy = accounts.filter(({ index }) => index !== UNREACHABLE && index !== REVOKED && index !== STUCK);
  return { host, accounts, healthy, stuck };
}

/** The same update of the same person at each account. */
async function saysToAll(host: RunningHost, accounts: readonly Account[], said: { update: number; text: string }) {
  const { update: update_id, text } = said;
  const message = { message_id: 1, date: 1, chat: { ...ANN, type: 'private' }, from: ANN, text };
  await Promise.all(
    accounts.map(async ({ index, isHooked, telegram, token, secret }) => {
      if (!isHooked) return void telegram.happens(token, { message });
      const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret };
      const body = JSON.stringify({ update_id, message });
      await until(
        async () => (await fetch(`${host.url}webhooks/telegram/a${index}`, { method: 'POST', headers, body })).ok,
        { what: `account ${index} to take it` },
      );
    }),
  );
}

/** What the bot of an account said, by the id that it has on the platform. */
const shownBy = ({ index, telegram }: Account): readonly string[] =>
  telegram.messages(CHAT).flatMap(({ from, text }) => (from === 100 + index ? [text] : []));

const shownByAll = (accounts: readonly Account[]): readonly string[] =>
  accounts.map((account) => `${account.index}: ${shownBy(account).join(', ')}`);

async function endpoints(host: RunningHost): Promise<ReadonlyMap<string, Shown>> {
  const answer = (await host.get('api/endpoints')) as { readonly endpoints: readonly Shown[] };
  return new Map(answer.endpoints.map((one) => [one.name, one]));
}

describe('twenty accounts of one platform in one host', { timeout: 590_000 }, () => {
  it('serves each by itself, whatever becomes of the others, also after a kill', async (t) => {
    const { host, accounts, healthy, stuck } = await hostWithAccounts(t);
    const [unreachable, revoked, slow] = [accounts[UNREACHABLE], accounts[REVOKED], accounts[STUCK]];
    assert.ok(unreachable !== undefined && revoked !== undefined && slow !== undefined);
    const stateOf = async ({ name }: Account): Promise<Shown | undefined> => (await endpoints(host)).get(name);

    await until(async () => (await stateOf(revoked))?.state === 'failed', { what: 'the revoked account to fail' });
    await until(async () => (await stateOf(unreachable))?.lastError !== null, { what: 'an error of the other' });
    await saysToAll(host, [...healthy, slow], { update: FIRST_UPDATE, text: 'first' });
    await until(() => healthy.every((account) => shownBy(account).length === 1), { what: 'an answer of each account' });
    await until(() => stuck.held > 0, { what: 'the call that is never answered' });

    // A delivery over HTTP may be answered before its account is online. Telegram was told no address of those by webhook.
    const shown = await until(
      async () => {
        const now = await endpoints(host);
        const isAsWanted = ({ name, isHooked }: Account) => now.get(name)?.state === (isHooked ? 'degraded' : 'online');
        return healthy.every(isAsWanted) ? now : undefined;
      },
      { what: 'all of them to be there' },
    );
    assert.equal(shown.size, ACCOUNTS);
    assert.deepEqual(
      shownByAll(healthy),
      healthy.map(({ index }) => `${index}: first is 1`),
    );
    assert.notEqual(shown.get(unreachable.name)?.state, 'online');
    assert.match(shown.get(revoked.name)?.lastError?.reason ?? '', /401/);
    assert.match(shown.get(revoked.name)?.lastError?.remedy ?? '', /BotFather/);
    assert.deepEqual(shownBy(slow), []);

    await host.stop('SIGKILL');
    await host.start();
    await saysToAll(
      host,
      healthy.filter(({ isHooked }) => isHooked),
      { update: FIRST_UPDATE, text: 'first' },
    );
    await saysToAll(host, healthy, { update: FIRST_UPDATE + 1, text: 'second' });
    const isAnswered = (account: Account): boolean => shownBy(account).some((text) => text.startsWith('second'));
    await until(() => healthy.every(isAnswered), { what: 'another answer of each account' });

    // Telegram knows no keys: the kill may have met an answer between the call and its note.
    const once = healthy.map((account) => [...new Set(shownBy(account))].join(', '));
    assert.deepEqual(
      once,
      healthy.map(() => 'first is 1, second is 2'),
    );
    for (const { secret, token } of accounts)
      for (const hidden of [secret, token.split(':')[1] ?? token]) assert.ok(!host.output().includes(hidden));
  });
});
