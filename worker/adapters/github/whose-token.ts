// Finds the owner of an account's token. Comments of that login are ignored as the bot's own, so it must equal the configured login.
import { accountFailed } from '../../sdk/index.ts';
import { callBy, type GithubLink, isRefusal } from './client.ts';
import type { Account } from './config.ts';

/** GitHub denies GET /user to installation tokens. The configured login may lack the suffix `[bot]`. */
export async function loginOf(link: GithubLink): Promise<string> {
  if (!link.account.login.endsWith('[bot]')) {
    try {
      return (await callBy(link, ({ request }) => request('GET /user'))).data.login;
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
  const ask = '{ viewer { login } }';
  return (await callBy(link, ({ graphql }) => graphql<{ viewer: { login: string } }>(ask))).viewer.login;
}

export const isLogin = (login: string, wanted: string): boolean => login.toLowerCase() === wanted.toLowerCase();

/** Online accounts whose token's owner is unconfirmed. Sends of these accounts wait, because the bot might answer itself. */
const unanswered = new WeakSet<Account>();

export const isUnanswered = ({ account }: GithubLink): boolean => unanswered.has(account);

/** The first call of a connection. Throws if GitHub rejects the token. Ignores a refusal to name the owner. */
export async function verifyLogin(link: GithubLink): Promise<void> {
  unanswered.add(link.account);
  await compareLogin(link);
  unanswered.delete(link.account);
}

async function compareLogin(link: GithubLink): Promise<void> {
  const { login: wanted } = link.account;
  let login: string;
  try {
    login = await loginOf(link);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return;
  }
  if (!isLogin(login, wanted))
    throw accountFailed(
      `the token is of ${login}, the account says ${wanted}: the bot would answer what it says itself`,
      'correct login in svc.config.yml, or the token, and reload',
    );
}
