// Converts Slack's deliveries to arrivals; HTTP and Socket Mode have the same payloads. Pure except for notes about the account:
// recent conversations (seen.ts), revoked tokens (revoked.ts) and lookups of administrators (admins.ts).
//
//   SLACK-PARSE-1  A message arrives once, though Slack sends a mention twice (`message`, `app_mention`) with different event ids.
//                  The ids of message, edits and removal consist of channel and time, so the history gives the same ids.
//                  Everything else has the id of its event, command or press.
//   SLACK-PARSE-2  Every delivery id begins with the workspace. A payload for another installation is left to that account.
//   SLACK-PARSE-3  A direct message has the person's id as its conversation, whoever started it.
//                  Direct messages are named `<channel>/<ts>`, because Slack needs the channel for changes. Others are named `<ts>`.
//   SLACK-PARSE-4  A signed payload of another form arrives as `other`, without the verification token.
//   SLACK-PARSE-5  Messages of other apps are dropped unless the account sets `bots`.

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

/** Arrivals of a verified request. Throws if its form is not one of Slack's. */
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

/** Arrivals of a Socket Mode payload. Administrators are not marked yet. */
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
  // In a shared channel the ids may come from the other workspace, so the history cannot be matched there.
  if (payload['is_ext_shared_channel'] !== true) {
    const seen = seenOf(account);
    for (const arrival of arrivals) seen.note(arrival);
  }
  return arrivals.map((arrival) => Object.assign({ ...arrival }, { id: `${context.workspace}/${arrival.id}` }));
}

/** Whether a payload is for the workspace or organisation of the account. */
export const isFor = (payload: unknown, { team }: Pick<Account, 'team'>): boolean =>
  team === undefined || (isObject(payload) && [...workspaceOf(payload), ...installedIn(payload)].includes(team));

/** The payload's workspace, then its organisation. */
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

/** In a shared channel `team_id` may be the other workspace. The fields read here name the receiving installation. */
function installedIn(payload: Json): readonly string[] {
  const named = [payload, ...listAt(payload, 'authorizations')].flatMap((one) =>
    ['context_team_id', 'context_enterprise_id', 'team_id', 'enterprise_id'].map((key) => textAt(one, key)),
  );
  return named.filter((id) => id !== undefined);
}
