// Asks an implementation about an account for `svc doctor --endpoint`: whether it accepts the token, its bot, and the bot's status.
// The check opens its own connection. Events are pushed to every connection, so the host misses none.

import { errorCode } from '../../sdk/errors.ts';
import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { isObject, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Caller, callerOf, loginOf, statusOf, tokensOf } from './calls/caller.ts';
import { Session } from './calls/session.ts';
import { type Account, accountFault } from './config.ts';
import { dial } from './connect.ts';
import { TIMING } from './timing.ts';

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  switch (account.mode) {
    case 'reverse':
      yield delivery(account, tools.url);
      return yield {
        name: 'connection',
        status: 'skip',
        detail: 'the implementation connects to the host: svc endpoints show says whether it has',
      };
    case 'http':
      yield delivery(account, tools.url);
      yield* questions(callerOf({ account, signal: tools.signal }), account);
      return yield await tools.clock(account.url ?? '');
    case 'forward':
      return yield* forward(account, tools);
  }
}

/** The address that the implementation must use. OneBot has no call to ask where it connects. */
const delivery = ({ mode }: Account, url: string | undefined): CheckResult => ({
  name: 'webhook',
  status: 'skip',
  detail: `the implementation does not tell where it goes: it has to be ${(mode === 'reverse' ? url?.replace(/^http/, 'ws') : url) ?? 'the address of this account (set http.publicUrl)'}`,
});

async function* forward(account: Account, { signal, log }: CheckTools): AsyncGenerator<CheckResult> {
  let refusal: unknown;
  for (const { token } of tokensOf(account)) {
    const link = { account, cursor: undefined, log, receive: async () => {}, online: () => {}, degraded: () => {} };
    const session = new Session(link, TIMING);
    try {
      await dial(session, { account, signal }, { token, timing: TIMING });
      await Promise.race([session.ready, session.ended]);
      return yield* questions(session, account, session.ended);
    } catch (error) {
      if (errorCode(error) !== 'account_failed') throw error;
      refusal = error;
    } finally {
      await session.close();
    }
  }
  throw refusal;
}

async function* questions(caller: Caller, account: Account, ended?: Promise<never>): AsyncGenerator<CheckResult> {
  const or = <T>(answer: Promise<T>): Promise<T> => (ended === undefined ? answer : Promise.race([answer, ended]));
  const self = await or(loginOf(caller, account));
  yield { name: 'token', status: 'ok', detail: `taken; the bot is ${self}` };
  const status = await or(statusOf(caller));
  if (status === undefined) yield { name: 'status', status: 'skip', detail: 'the implementation does not tell it' };
  else if (status['online'] === false)
    yield { name: 'status', status: 'error', detail: 'the bot is offline', remedy: 'log it in at the implementation' };
  else if (status['good'] === false)
    yield { name: 'status', status: 'warn', detail: 'the implementation is not well', remedy: 'look at its own log' };
  else yield { name: 'status', status: 'ok', detail: 'online' };
  const version = await or(caller.call('get_version_info', {}));
  const data = version.kind === 'ok' && isObject(version.data) ? version.data : {};
  const name = [textAt(data, 'app_name'), textAt(data, 'app_version')].filter((one) => one !== undefined).join(' ');
  const protocol = textAt(data, 'protocol_version');
  if (protocol !== undefined && !/11/.test(protocol))
    yield {
      name: 'implementation',
      status: 'error',
      detail: `${name} speaks ${protocol}`,
      remedy: 'set it to OneBot 11 (v11)',
    };
  else yield { name: 'implementation', status: name === '' ? 'skip' : 'ok', detail: name === '' ? 'not told' : name };
}
