// Manages the account's webhooks at GitHub. `svc webhooks register` creates them, and their URL identifies them.
// Repeated registration changes only the secret and the events.
import type { Link } from '../../sdk/index.ts';
import { type Api, callBy } from './client.ts';
import type { Account } from './config.ts';
import { EVENTS } from './payload.ts';

export interface Of {
  readonly owner: string;
  readonly repo: string;
}
export const ofName = (repository: string): Of => {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
};

/** Resolves to a line of output for the operator. */
export async function register(url: string, link: Link<Account>): Promise<string> {
  const { repositories, secrets } = link.account;
  if (repositories.length === 0)
    throw new Error('no repository is named: list them under repositories in svc.config.yml and reload');
  const config = { url, content_type: 'json', secret: secrets[0]?.reveal() ?? '', insecure_ssl: '0' };
  const wanted = { active: true, events: [...EVENTS], config };
  const done: string[] = [];
  for (const repository of repositories) {
    done.push(
      await callBy(link, async ({ request }) => {
        const of = ofName(repository);
        const known = (await hooksOf(request, of)).find(({ config: at }) => at.url === url);
        if (known === undefined) {
          const { data } = await request('POST /repos/{owner}/{repo}/hooks', { ...of, name: 'web', ...wanted });
          return `${repository}: webhook ${data.id} made`;
        }
        await request('PATCH /repos/{owner}/{repo}/hooks/{hook_id}', { ...of, hook_id: known.id, ...wanted });
        return `${repository}: webhook ${known.id} set again`;
      }),
    );
  }
  return done.join(', ');
}

/** All webhooks of a repository, at most a hundred. */
export async function hooksOf(request: Api['request'], of: Of) {
  return (await request('GET /repos/{owner}/{repo}/hooks', { ...of, per_page: 100 })).data;
}

/** The URL of our webhook ends with the host's own path, behind any prefix. */
export const isOurs = (url: string | undefined, endpoint: string): boolean =>
  url?.endsWith(`/webhooks/${endpoint.slice(endpoint.indexOf(':') + 1).replace('~', '/')}`) === true;
