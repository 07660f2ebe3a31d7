// Configuration of one Slack account: one app, installed in one workspace.
//
//   plugins:
//     slack:
//       endpoints:
//         - id: work                               # Request URL of events, interactivity and commands: /webhooks/slack/work
//           token: ${SLACK_TOKEN}                  # xoxb-…, OAuth & Permissions
//           secrets: ['${SLACK_SIGNING_SECRET}']   # Basic Information → App Credentials; two while one is renewed
//         - id: lab
//           mode: socket                           # no address of our own: Slack delivers over a WebSocket
//           token: ${LAB_TOKEN}
//           appToken: ${LAB_APP_TOKEN}             # xapp-…, with connections:write
import { t, type Values } from '../../sdk/index.ts';

export const account = {
  token: t.secret({ description: 'Bot token of the app in its workspace, xoxb-…' }),
  mode: t.enum(['http', 'socket'], {
    default: 'http',
    description: 'How Slack delivers: to our address, or over a WebSocket that we open (Socket Mode)',
  }),
  secrets: t.array(t.secret(), {
    default: [],
    description: 'Signing secrets of the app, needed for mode http; each one verifies, so that one can be renewed',
  }),
  appToken: t.optional(
    t.secret({ description: 'App-level token with connections:write, xapp-…, needed for mode socket' }),
  ),
  team: t.optional(
    t.string({
      pattern: '^[TE][A-Z0-9]{2,30}$',
      description:
        'Id of the workspace, where one app is installed in several: what comes from others is left to their accounts',
    }),
  ),
  bots: t.boolean({
    default: false,
    description:
      'Whether what other apps and incoming webhooks say is taken: two bots that answer each other never end',
  }),
  apiUrl: t.string({
    default: 'https://slack.com/api/',
    pattern: '^https?://[^\\s?#]+$',
    description: 'Address of the Web API; another one only for a proxy or a test',
  }),
};
export type Account = Values<typeof account>;

/** Reason why this account cannot work at all, with its remedy. */
export function accountFault({
  mode,
  secrets,
  appToken,
}: Account): { readonly reason: string; readonly remedy: string } | undefined {
  if (mode === 'http' && secrets.length === 0)
    return {
      reason: 'mode http needs the signing secret of the app',
      remedy: 'add secrets: (Basic Information, App Credentials, Signing Secret) in svc.config.yml and reload',
    };
  if (mode === 'socket' && appToken === undefined)
    return {
      reason: 'mode socket needs an app-level token',
      remedy: 'make one with connections:write (Basic Information, App-Level Tokens), add it as appToken and reload',
    };
  return undefined;
}
