// Whose token an account has: what that login says itself does not arrive (H2 of parse.ts), so it has to be the one that is configured.
import { accountFailed } from '../../sdk/index.ts';
import { callBy, type GithubLink, isRefusal } from './client.ts';
import type { Account } from './config.ts';

/** A token of an installation may not ask GET /user, and who has one may have left out the `[bot]`. */
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

/** Accounts that stand without an answer: what they have to say waits, or the bot might answer itself. */
const unanswered = new WeakSet<Account>();

export const isUnanswered = ({ account }: GithubLink): boolean => unanswered.has(account);

/** The first call of a connection: a token that GitHub does not know ends here, too. What GitHub does not tell is let be. */
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
