// Arrivals from slash commands, buttons, shortcuts and forms. Pure.

import type { Arrival } from '../../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { baseOf, type Context, messageId } from '../place.ts';
import { plainOf } from '../text.ts';

/** A slash command. The plugin's command parses the arguments. */
export function parseCommand(form: Json, context: Context): readonly Arrival[] {
  const [command, user, channel] = [textAt(form, 'command'), textAt(form, 'user_id'), textAt(form, 'channel_id')];
  const id = textAt(form, 'trigger_id');
  if (command === undefined || user === undefined || channel === undefined || id === undefined)
    throw new Error('a command without name, person, place or trigger_id');
  const channelName = textAt(form, 'channel_name');
  const base = baseOf(
    {
      id,
      channel,
      channelName,
      channelType: channelName === 'directmessage' ? 'im' : undefined,
      user,
      userName: textAt(form, 'user_name'),
    },
    context,
  );
  const line = plainOf(textAt(form, 'text') ?? '');
  return [{ ...base, kind: 'command', name: command.replace(/^\//, ''), args: {}, line }];
}

/** One arrival for each pressed button of ours. Any other interaction arrives unchanged as `other`. */
export function parseInteraction(payload: Json, context: Context): readonly Arrival[] {
  const type = textAt(payload, 'type');
  if (type === undefined) throw new Error('an interaction without a type');
  const presses = type === 'block_actions' ? pressesOf(payload, context) : [];
  return presses.length > 0 ? presses : [other(payload, type, context)];
}

function pressesOf(payload: Json, context: Context): readonly Arrival[] {
  const container = objectAt(payload, 'container');
  const message = objectAt(payload, 'message');
  const channel = textAt(objectAt(payload, 'channel'), 'id') ?? textAt(container, 'channel_id');
  const ts = textAt(container, 'message_ts') ?? textAt(message, 'ts');
  if (channel === undefined || ts === undefined) return [];
  const root = textAt(container, 'thread_ts') ?? textAt(message, 'thread_ts');
  return listAt(payload, 'actions').flatMap((action, index): readonly Arrival[] => {
    const token = textAt(action, 'value');
    if (action['type'] !== 'button' || token === undefined) return [];
    const id = textAt(payload, 'trigger_id') ?? `${channel}/${ts}/${textAt(action, 'action_ts')}`;
    const base = baseOf(
      {
        id: index === 0 ? id : `${id}/${index}`,
        channel,
        channelName: textAt(objectAt(payload, 'channel'), 'name'),
        ...personOf(payload),
        thread: root === ts ? undefined : root,
        ts: textAt(action, 'action_ts'),
      },
      context,
    );
    return [{ ...base, kind: 'pressed', message: messageId(channel, ts), token }];
  });
}

const personOf = (payload: Json): { readonly user: string | undefined; readonly userName: string | undefined } => {
  const user = objectAt(payload, 'user');
  const id = textAt(user, 'id') ?? textAt(payload, 'user_id');
  return { user: id, userName: textAt(user, 'name') ?? textAt(user, 'username') ?? id };
};

/** An interaction without an id gets one from its minute. */
function other(payload: Json, type: string, context: Context): Arrival {
  const channel = textAt(objectAt(payload, 'channel'), 'id');
  const view = objectAt(payload, 'view');
  const ts = textAt(payload, 'action_ts');
  const named = textAt(payload, 'trigger_id') ?? textAt(view, 'id') ?? ts ?? payload['minute_rate_limited'];
  const id = `${type}/${String(named ?? Math.floor(context.now / 60_000))}`;
  const { token: _token, bot_access_token: _bot, ...raw } = payload;
  return { ...baseOf({ id, channel, ...personOf(payload), ts }, context), kind: 'other', type, raw };
}
