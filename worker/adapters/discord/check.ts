// Asks Discord about an account for `svc doctor --endpoint`: the token's owner, enabled intents, the interactions address, the sessions left.
// The check opens no gateway connection, because each one counts against the daily limit of sessions.

import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { asObject, countAt, type Json, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Answer, call } from './client.ts';
import { type Account, accountFault, opensGateway, takesInteractions } from './config.ts';
import { addressFault, addressRemedy, KEY_REMEDY, keyFault } from './interactions/address.ts';

/** Flags of an application. The first bit of a pair is for bots in any number of servers, the second for bots in few. */
const SWITCHES = {
  GUILD_PRESENCES: (1 << 12) | (1 << 13),
  GUILD_MEMBERS: (1 << 14) | (1 << 15),
  MESSAGE_CONTENT: (1 << 18) | (1 << 19),
} as const;
const FEW_SESSIONS = 50;

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  const found = await call({ account }, { method: 'GET', path: '/applications/@me' });
  if (found.kind !== 'ok') return yield notTold('token', found);
  const application = asObject(found.json);
  yield tokenOf(application, account);
  if (opensGateway(account)) {
    yield* intentsOf(application, account);
    const gateway = await call({ account }, { method: 'GET', path: '/gateway/bot' });
    yield gateway.kind === 'ok' ? sessionsOf(asObject(gateway.json)) : notTold('sessions', gateway);
  }
  if (takesInteractions(account)) yield keyOf(application, account);
  yield addressOf(application, account, tools);
  yield await tools.clock(account.apiUrl);
}

function notTold(name: string, answer: Exclude<Answer, { kind: 'ok' }>): CheckResult {
  if (answer.kind === 'later') return { name, status: 'skip', detail: `Discord asks to wait ${answer.afterMs} ms` };
  const remedy = 'check apiUrl, and whether the application is still there in the Developer Portal';
  return { name, status: 'error', detail: answer.reason, remedy };
}

function tokenOf(application: Json, { applicationId }: Account): CheckResult {
  const id = textAt(application, 'id');
  const detail = `of ${textAt(application, 'name') ?? 'an application'} (${id})`;
  if (id === applicationId) return { name: 'token', status: 'ok', detail };
  const remedy = 'correct token or applicationId and reload';
  return { name: 'token', status: 'error', detail: `${detail}, the account of ${applicationId}`, remedy };
}

function* intentsOf(application: Json, { intents }: Account): Generator<CheckResult> {
  const flags = countAt(application, 'flags');
  if (flags === undefined) return;
  const off = Object.entries(SWITCHES).flatMap(([name, bits]) =>
    intents.includes(name as keyof typeof SWITCHES) && (flags & bits) === 0 ? [name] : [],
  );
  if (off.length === 0) return yield { name: 'intents', status: 'ok', detail: intents.join(', ') };
  yield {
    name: 'intents',
    status: 'error',
    detail: `not switched on for this bot: ${off.join(', ')}`,
    remedy:
      'switch them on (Developer Portal, Bot, Privileged Gateway Intents), or take them out of intents: and reload',
  };
}

function sessionsOf(gateway: Json): CheckResult {
  const limit = objectAt(gateway, 'session_start_limit');
  const [left = 0, total = 0, shards = 1] = [
    countAt(limit, 'remaining'),
    countAt(limit, 'total'),
    countAt(gateway, 'shards'),
  ];
  const detail = `${left} of ${total} are left for today; Discord advises ${shards} ${shards === 1 ? 'connection' : 'connections'}`;
  if (left >= FEW_SESSIONS + shards) return { name: 'sessions', status: 'ok', detail };
  return { name: 'sessions', status: 'warn', detail, remedy: 'does another program use this token?' };
}

function keyOf(application: Json, account: Account): CheckResult {
  if (textAt(application, 'verify_key') === undefined)
    return { name: 'key', status: 'skip', detail: 'Discord does not tell the public key' };
  const fault = keyFault(account, application);
  if (fault !== undefined) return { name: 'key', status: 'error', detail: fault, remedy: KEY_REMEDY };
  return { name: 'key', status: 'ok', detail: 'the public key of the application is among publicKeys' };
}

function addressOf(application: Json, account: Account, { url, endpoint }: CheckTools): CheckResult {
  const fault = addressFault(account, application);
  const remedy = addressRemedy({ account, endpoint });
  if (fault !== undefined) return { name: 'webhook', status: 'error', detail: fault, remedy };
  const at = textAt(application, 'interactions_endpoint_url');
  if (at === undefined) return { name: 'webhook', status: 'ok', detail: 'none: interactions come over the gateway' };
  if (url === undefined || at === url)
    return { name: 'webhook', status: 'ok', detail: 'interactions go to this address' };
  return {
    name: 'webhook',
    status: 'error',
    detail: 'interactions go to another address than that of this host',
    remedy,
  };
}
