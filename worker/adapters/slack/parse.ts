// What Slack delivers → what arrived. Pure, but that it is noted where people speak (seen.ts) and that a
// token is revoked (revoked.ts), and that administrators are asked for (admins.ts). Over HTTP and over Socket Mode the payloads are the same.
//
//   P1  A message arrives once, though Slack tells of one that mentions the bot twice (`message`, `app_mention`, an id each): it is known by its
//       channel and time, and so are its edits and its removal, which the history may tell of, too. Everything else has the id of its event,
//       command or press.
//   P2  All ids of deliveries begin with the workspace. What came for another installation than the account's is left to that account.
//   P3  A direct message is a conversation with the id of its person: there a person is told something in private, whoever began.
//       Its messages are named `<channel>/<ts>`, because Slack wants the channel to change them; elsewhere `<ts>`.
//   P4  What is signed and not of these forms arrives as `other`, without the verification token.
//   P5  What other apps say is left out, unless the account wants it.

import type { Arrival, RawRequest } from '../../sdk/index.ts';
import { isObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import { adminsOf } from './admins.ts';
import { parseEvent } from './arrivals/events.ts';
import { parseCommand, parseInteraction } from './arrivals/interactions.ts';
import { isRevocation, tellRevoked } from './arrivals/revoked.ts';
import { seenOf } from './arrivals/seen.ts';
import type { Account } from './config.ts';

type Installation = Pick<Account, 'team' | 'bots'>;

/** What a verified request holds. Throws when it is not what Slack sends. */
export function parse(request: RawRequest, account: Installation): readonly Arrival[] {
  return adminsOf(account).marked(heardIn(request, account), performance.now());
}

function heardIn(request: RawRequest, account: Installation): readonly Arrival[] {
  const text = Buffer.from(request.body).toString('utf8');
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? ''))
    return arrivalsOf(safeJson(text), account, request.receivedAt);
  const form = new URLSearchParams(text);
  const payload = form.get('payload');
  return arrivalsOf(payload === null ? Object.fromEntries(form) : safeJson(payload), account, request.receivedAt);
}

/** The same for the payload of an envelope, in which nobody is an administrator yet (admins.ts). */
export function arrivalsOf(payload: unknown, account: Installation, now: number): readonly Arrival[] {
  if (!isObject(payload)) throw new Error('neither an event nor an interaction');
  if (!isFor(payload, account)) return [];
  const workspace = workspaceOf(payload);
  if (isRevocation(payload)) tellRevoked(account);
  if (payload['type'] === 'app_rate_limited') seenOf(account).missedSomething();
  const context = { workspace: workspace[0] ?? 'unknown', now, bots: account.bots };
  const arrivals =
    payload['type'] === 'event_callback'
      ? parseEvent(payload, context)
      : textAt(payload, 'command') !== undefined
        ? parseCommand(payload, context)
        : parseInteraction(payload, context);
  // Ids of channels that are shared with others may be told by the other workspace: nothing can be looked for there (catch-up.ts).
  if (payload['is_ext_shared_channel'] !== true) {
    const seen = seenOf(account);
    for (const arrival of arrivals) seen.note(arrival);
  }
  return arrivals.map((arrival) => Object.assign({ ...arrival }, { id: `${context.workspace}/${arrival.id}` }));
}

/** P2. */
export const isFor = (payload: unknown, { team }: Pick<Account, 'team'>): boolean =>
  team === undefined || (isObject(payload) && [...workspaceOf(payload), ...installedIn(payload)].includes(team));

/** The workspace that a payload is for, then the organisation that it belongs to. */
function workspaceOf(payload: Json): readonly string[] {
  const named = [
    textAt(payload, 'team_id'),
    textAt(objectAt(payload, 'team'), 'id'),
    textAt(objectAt(payload, 'user'), 'team_id'),
    textAt(payload, 'enterprise_id'),
    textAt(objectAt(payload, 'enterprise'), 'id'),
  ];
  return named.filter((id) => id !== undefined);
}

/** In a channel that is shared with others `team_id` may be theirs: whose installation is told is named here. */
function installedIn(payload: Json): readonly string[] {
  const named = [payload, ...listAt(payload, 'authorizations')].flatMap((one) =>
    ['context_team_id', 'context_enterprise_id', 'team_id', 'enterprise_id'].map((key) => textAt(one, key)),
  );
  return named.filter((id) => id !== undefined);
}
