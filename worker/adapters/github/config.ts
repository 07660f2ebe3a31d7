// Keys of one GitHub account, and what must be true of them.
//
//   plugins:
//     github:
//       endpoints:
//         - id: main
//           login: helper-bot                       # 'my-app[bot]' for a GitHub App
//           token: '${GITHUB_TOKEN}'                # personal access token or installation token
//           secrets: ['${GITHUB_WEBHOOK_SECRET}']   # of the webhook; several while one is renewed, the newest first
//           repositories: [octo/hello]              # for `svc webhooks register`
import { t, type Values } from '../../sdk/index.ts';

export const account = {
  login: t.string({
    pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\\[bot\\])?$',
    description:
      'Whose token it is; my-app[bot] for a GitHub App. What it does itself does not arrive, @login speaks to it',
  }),
  token: t.secret({ description: 'Personal access token, or token of an installation' }),
  secrets: t.array(t.secret(), {
    minItems: 1,
    description: 'Each one verifies deliveries; the first is set at GitHub by svc webhooks register',
  }),
  apiUrl: t.string({
    default: 'https://api.github.com',
    pattern: '^https?://[^\\s?#@]+$',
    description: 'GitHub Enterprise Server: https://<host>/api/v3',
  }),
  repositories: t.array(t.string({ pattern: '^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$' }), {
    default: [],
    description: 'owner/name: those whose webhook svc webhooks register makes. Others may deliver as well',
  }),
};
export type Account = Values<typeof account>;

/** Shortest accepted secret. GitHub asks for high entropy and sets no length. */
const LEAST_SECRET = 8;

/** The reason and remedy if the configuration itself keeps the account from working. */
export function accountFault({
  token,
  secrets,
}: Account): { readonly reason: string; readonly remedy: string } | undefined {
  if (secrets.some((secret) => secret.reveal().length < LEAST_SECRET)) {
    return {
      reason: `a secret has under ${LEAST_SECRET} characters`,
      remedy: 'make one: openssl rand -hex 32; put it into .env and into the webhook at GitHub, and reload',
    };
  }
  if (!/^[!-~]+$/.test(token.reveal()))
    return { reason: 'the token is empty or has blanks in it', remedy: 'put the token into .env and reload' };
  return undefined;
}
