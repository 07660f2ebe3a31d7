// Asks GitHub about an account for `svc doctor --endpoint`: the token's owner and scopes. For each repository: the signed webhook that delivers here,
// and its last deliveries.
// The check reads only and changes nothing.
import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { callBy, type GithubLink, isRefusal } from './client.ts';
import { type Account, accountFault } from './config.ts';
import { EVENTS } from './payload.ts';
import { hooksOf, isOurs, ofName } from './webhooks.ts';
import { isLogin, loginOf } from './whose-token.ts';

/** Repositories checked in parallel. GitHub asks for few parallel requests. */
const AT_ONCE = 5;
const LAST_DELIVERIES = 30;
const WEEK_MS = 7 * 86_400_000;
const TOKEN_REMEDY = 'make a new token at GitHub, put it into .env and reload';

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  const link = { account, signal: tools.signal, log: tools.log };
  if (account.login.endsWith('[bot]')) yield* appChecks(link);
  else yield* userChecks(link);
  const { repositories } = account;
  if (repositories.length === 0)
    yield {
      name: 'webhook',
      status: 'skip',
      detail: 'no repositories are named: which webhooks deliver here is not known',
    };
  for (let at = 0; at < repositories.length; at += AT_ONCE) {
    const asked = repositories.slice(at, at + AT_ONCE).map((repository) => repositoryChecks(repository, link, tools));
    for (const checks of await Promise.all(asked)) yield* checks;
  }
  yield await tools.clock(account.apiUrl);
}

/** GitHub denies GET /user to installation tokens, so apps are checked by other means. */
async function* appChecks(link: GithubLink): AsyncGenerator<CheckResult> {
  yield loginCheck(await loginOf(link), link.account);
  yield { name: 'scopes', status: 'skip', detail: 'GitHub does not tell what an installation may do' };
}

async function* userChecks(link: GithubLink): AsyncGenerator<CheckResult> {
  const { data, headers } = await callBy(link, ({ request }) => request('GET /user'));
  yield loginCheck(data.login, link.account);
  yield scopesCheck(headers['x-oauth-scopes']);
  const ends = headers['github-authentication-token-expiration'];
  if (ends !== undefined) yield endCheck(String(ends));
}

const loginCheck = (login: string, { login: wanted }: Account): CheckResult =>
  isLogin(login, wanted)
    ? { name: 'token', status: 'ok', detail: `of ${login}` }
    : {
        name: 'token',
        status: 'error',
        detail: `of ${login}, the account says ${wanted}: the bot would answer what it says itself`,
        remedy: 'correct login in svc.config.yml, or the token, and reload',
      };

/** Only classic tokens list their scopes. */
function scopesCheck(header: string | undefined): CheckResult {
  if (header === undefined)
    return { name: 'scopes', status: 'skip', detail: 'GitHub does not tell what a fine-grained token may do' };
  const scopes = header.split(/\s*,\s*/).filter((scope) => scope !== '');
  const detail = scopes.length === 0 ? 'none' : scopes.join(', ');
  return scopes.includes('repo') || scopes.includes('public_repo')
    ? { name: 'scopes', status: 'ok', detail }
    : {
        name: 'scopes',
        status: 'error',
        detail: `${detail}: without repo (or public_repo) nothing can be said`,
        remedy: TOKEN_REMEDY,
      };
}

/** Accepts `2026-12-01 12:00:00 UTC`, or a time with an offset. */
function endCheck(text: string): CheckResult {
  const endsAt = Date.parse(text);
  const isSoon = endsAt - Date.now() < WEEK_MS;
  return {
    name: 'token-end',
    status: isSoon ? 'warn' : 'ok',
    detail: `the token ends at ${Number.isNaN(endsAt) ? text : new Date(endsAt).toISOString()}`,
    ...(isSoon ? { remedy: TOKEN_REMEDY } : {}),
  };
}

/** A refusal by GitHub is a result. Never rejects for it. */
async function repositoryChecks(
  repository: string,
  link: GithubLink,
  tools: CheckTools,
): Promise<readonly CheckResult[]> {
  try {
    const { data } = await callBy(link, ({ request }) =>
      request('GET /repos/{owner}/{repo}', { ...ofName(repository) }),
    );
    if (data.archived)
      return [{ name: 'repository', status: 'warn', detail: `${repository} is archived: nothing can be said there` }];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return [
      {
        name: 'repository',
        status: 'error',
        detail: `${repository} is not there, or the token may not see it`,
        remedy: 'correct repositories in svc.config.yml, or give the token the right to it',
      },
    ];
  }
  try {
    return await hookChecks(repository, link, tools);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const detail = `${repository}: the token may not see webhooks (admin:repo_hook, or Webhooks: read)`;
    return [{ name: 'webhook', status: 'skip', detail }];
  }
}

async function hookChecks(
  repository: string,
  link: GithubLink,
  { url, endpoint }: CheckTools,
): Promise<readonly CheckResult[]> {
  const remedy = `svc webhooks register ${endpoint.split(':').at(-1)}`;
  const hooks = await callBy(link, ({ request }) => hooksOf(request, ofName(repository)));
  const hook = hooks.find(({ config }) => (url === undefined ? isOurs(config.url, endpoint) : config.url === url));
  if (hook === undefined)
    return [{ name: 'webhook', status: 'error', detail: `${repository}: no webhook delivers to this host`, remedy }];
  return [webhookCheck(repository, hook, remedy), await deliveriesCheck(repository, hook.id, { link, remedy })];
}

type Hook = Awaited<ReturnType<typeof hooksOf>>[number];

function webhookCheck(repository: string, { active, events, config }: Hook, remedy: string): CheckResult {
  const missing = EVENTS.filter((event) => !events.includes(event) && !events.includes('*'));
  const faults = [
    ...(active ? [] : ['is switched off']),
    ...(config.secret === undefined ? ['has no secret: what it delivers is refused'] : []),
    ...(config.content_type === 'json' ? [] : ['does not deliver JSON']),
  ];
  const notes = [
    ...(missing.length === 0 ? [] : [`does not tell of ${missing.join(', ')}`]),
    ...(String(config.insecure_ssl ?? '0') === '0' ? [] : ['takes any certificate']),
  ];
  const all = [...faults, ...notes];
  if (all.length === 0) return { name: 'webhook', status: 'ok', detail: `${repository}: delivers here, signed` };
  return {
    name: 'webhook',
    status: faults.length > 0 ? 'error' : 'warn',
    detail: `${repository}: the webhook ${all.join(', ')}`,
    remedy,
  };
}

async function deliveriesCheck(
  repository: string,
  hook_id: number,
  { link, remedy }: { readonly link: GithubLink; readonly remedy: string },
): Promise<CheckResult> {
  const route = 'GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries';
  const { data } = await callBy(link, ({ request }) =>
    request(route, { ...ofName(repository), hook_id, per_page: LAST_DELIVERIES }),
  );
  const [last] = data;
  if (last === undefined) return { name: 'deliveries', status: 'ok', detail: `${repository}: none in the last days` };
  const isTaken = ({ status_code }: { readonly status_code: number }): boolean =>
    status_code >= 200 && status_code < 300;
  const failed = data.filter((one) => !isTaken(one)).length;
  const told = `${repository}: the last one, at ${last.delivered_at}, ended with ${last.status_code} ${last.status}; ${failed} of the last ${data.length} failed`;
  if (isTaken(last)) return { name: 'deliveries', status: 'ok', detail: told };
  return last.status_code === 401
    ? { name: 'deliveries', status: 'error', detail: `${told}. 401: the webhook has another secret`, remedy }
    : {
        name: 'deliveries',
        status: 'warn',
        detail: told,
        remedy: 'is the host up, and does its address answer from outside? svc doctor --edge <url>',
      };
}
