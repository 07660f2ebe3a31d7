// Keys of one account of OneBot 11: one bot at one implementation (NapCat, LLOneBot, Lagrange, go-cqhttp, …).
//
//   plugins:
//     onebot11:
//       endpoints:
//         - id: main                          # we connect to the implementation
//           url: ws://127.0.0.1:3001
//           accessTokens: ['${ONEBOT_TOKEN}']
//         - id: back                          # the implementation connects to us: ws(s)://…/webhooks/onebot11/back
//           mode: reverse
//           accessTokens: ['${BACK_TOKEN}']
//         - id: post                          # it posts to /webhooks/onebot11/post, we call its HTTP API
//           mode: http
//           url: http://127.0.0.1:3000
//           accessTokens: ['${POST_TOKEN}']
//           secrets: ['${POST_SECRET}']
import { t, type Values } from '../../sdk/index.ts';

export const account = {
  mode: t.enum(['forward', 'reverse', 'http'], {
    default: 'forward',
    description:
      'Who connects: we over a WebSocket (forward), the implementation over a WebSocket (reverse), or HTTP both ways',
  }),
  url: t.optional(
    t.string({
      pattern: '^(?:wss?|https?)://[^\\s#]+$',
      description:
        'Of the implementation: ws(s)://… for mode forward, http(s)://… for mode http; none for mode reverse',
    }),
  ),
  split: t.boolean({
    default: false,
    description: 'Mode forward: two connections, to /event and /api below the url, instead of one to the url itself',
  }),
  accessTokens: t.array(t.secret(), {
    default: [],
    description:
      'access_token of the implementation. Mode reverse takes each of them; the others send the first that is taken: so that one can be renewed',
  }),
  secrets: t.array(t.secret(), {
    default: [],
    description: 'Mode http: keys of the signatures (secret); each one verifies, so that one can be renewed',
  }),
  selfId: t.optional(
    t.string({
      pattern: '^\\d{1,20}$',
      description: 'Number of the bot: another one is refused. Left out: whichever the implementation says',
    }),
  ),
  perSecond: t.number({
    minimum: 0.1,
    maximum: 100,
    default: 5,
    description: 'Most calls of this account in a second that send, remove or react',
  }),
  files: t.enum(['inline', 'link'], {
    default: 'inline',
    description:
      'How it is given files: inside the call, in memory, or by signed links to this host (http.publicUrl) that it fetches itself',
  }),
  catchUp: t.boolean({
    default: false,
    description: 'Modes forward and reverse: read what was missed from the history, which not every implementation has',
  }),
};
export type Account = Values<typeof account>;

/** The reason and remedy if the configuration itself keeps the account from working. */
export function accountFault({
  mode,
  url,
  accessTokens,
  secrets,
}: Account): { readonly reason: string; readonly remedy: string } | undefined {
  const wanted = { forward: /^wss?:/, http: /^https?:/, reverse: undefined }[mode];
  if (wanted !== undefined && !wanted.test(url ?? ''))
    return {
      reason: `mode ${mode} needs the url of the implementation, ${mode === 'http' ? 'http(s)' : 'ws(s)'}://…`,
      remedy: 'add url: in svc.config.yml and reload',
    };
  if (mode === 'reverse' && accessTokens.length === 0)
    return {
      reason: 'mode reverse needs an access token: without one anybody could connect',
      remedy: 'add accessTokens: in svc.config.yml, enter the same token at the implementation, and reload',
    };
  if (mode === 'http' && secrets.length === 0)
    return {
      reason: 'mode http needs the secret that deliveries are signed with',
      remedy: 'add secrets: in svc.config.yml, enter the same secret at the implementation, and reload',
    };
  return undefined;
}
