// Checks of a Slack account for `svc doctor --endpoint`: the owner of the tokens and missing scopes, through `auth.test`.
// In Socket Mode the check also requests a socket address. The socket is not opened, because Slack would send events to it.

import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { isObject, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Answer, call } from './client.ts';
import { type Account, accountFault } from './config.ts';

/** The bot's ability that each scope gives. */
const SCOPES: Readonly<Record<string, string>> = {
  'chat:write': 'say anything',
  'chat:write.public': 'answer commands in public channels that it is not in',
  'im:write': 'begin a private conversation',
  'app_mentions:read': 'hear that it is mentioned',
  'channels:history': 'hear what is said in public channels',
  'groups:history': 'hear what is said in private channels',
  'im:history': 'hear what is said to it in private',
  'mpim:history': 'hear what is said in group conversations',
  'channels:read': 'hear who joins and leaves, and find what was missed in channels',
  'groups:read': 'hear who joins and leaves private channels, and find what was missed in channels',
  commands: 'take slash commands',
  'reactions:read': 'hear reactions',
  'reactions:write': 'react',
  'files:read': 'read files',
  'files:write': 'send files',
  'users:read': 'know who administers the workspace',
  'metadata.message:read': 'look for a post before it is repeated',
};
const NEEDED = 'chat:write';
const APP_REMEDY = 'add them under OAuth & Permissions, install the app again, put its new token into .env and reload';

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  const caller = { account, signal: tools.signal };
  const who = await call(caller, 'auth.test', {});
  if (who.kind !== 'ok') return yield refused('token', 'auth.test', who);
  yield* tokenChecks(who, account);
  if (account.mode === 'socket') yield await socketCheck(account, tools);
  else
    yield {
      name: 'webhook',
      status: 'skip',
      detail: `Slack does not tell where it delivers: the Request URL of events, interactivity and commands has to be ${tools.url ?? 'the address of this account'}`,
    };
  yield await tools.clock(account.apiUrl);
}

function* tokenChecks({ json }: Extract<Answer, { kind: 'ok' }>, account: Account): Generator<CheckResult> {
  const [team, organisation] = [textAt(json, 'team_id') ?? '', textAt(json, 'enterprise_id')];
  const of = `of ${textAt(json, 'user') ?? 'nobody'} in ${textAt(json, 'team') ?? team} (${team})`;
  if (account.team !== undefined && ![team, organisation].includes(account.team))
    yield {
      name: 'token',
      status: 'error',
      detail: `${of}, the account of ${account.team}`,
      remedy: 'correct team or token and reload',
    };
  else if (textAt(json, 'bot_id') === undefined)
    yield {
      name: 'token',
      status: 'error',
      detail: `${of}: it is a person's, not a bot's`,
      remedy: 'take the Bot User OAuth Token, xoxb-… (OAuth & Permissions)',
    };
  else yield { name: 'token', status: 'ok', detail: of };
  yield scopesCheck(json);
}

function scopesCheck(json: unknown): CheckResult {
  const { scopes } = objectAt(isObject(json) ? json : {}, 'response_metadata');
  if (!Array.isArray(scopes)) return { name: 'scopes', status: 'skip', detail: 'Slack did not tell them' };
  const missing = Object.entries(SCOPES).filter(([scope]) => !scopes.includes(scope));
  if (missing.length === 0) return { name: 'scopes', status: 'ok', detail: `${scopes.length}, none missing` };
  return {
    name: 'scopes',
    status: missing.some(([scope]) => scope === NEEDED) ? 'error' : 'warn',
    detail: `missing: ${missing.map(([scope, what]) => `${scope} (to ${what})`).join(', ')}`,
    remedy: APP_REMEDY,
  };
}

async function socketCheck(account: Account, { signal }: CheckTools): Promise<CheckResult> {
  const { appToken } = account;
  const answer = await call(
    appToken === undefined ? { account, signal } : { account, signal, token: appToken },
    'apps.connections.open',
    {},
  );
  return answer.kind === 'ok'
    ? { name: 'socket', status: 'ok', detail: 'the app-level token opens Socket Mode' }
    : refused('socket', 'apps.connections.open', answer);
}

const refused = (name: string, method: string, answer: Exclude<Answer, { kind: 'ok' }>): CheckResult =>
  answer.kind === 'later'
    ? {
        name,
        status: 'warn',
        detail: `${method}: Slack asks to wait ${Math.ceil(answer.afterMs / 1_000)} s`,
        remedy: 'try again then',
      }
    : {
        name,
        status: 'error',
        detail: `${method}: ${answer.reason}`,
        remedy: 'look at the app at api.slack.com/apps: its tokens, its scopes, Socket Mode',
      };
