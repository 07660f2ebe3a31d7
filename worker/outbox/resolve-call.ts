// Turns a stored call into a platform call: references to the bot's own sends become the platform's message ids.

import { wellFormed } from '../../shared/log/well-formed.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { fileFor } from '../files/file-source.ts';
import type { MessageRef, Outgoing } from '../sdk/index.ts';
import { type OutboxRow, readCall, readSendByKey, type StoredCall } from './outbox-store.ts';

export type ResolvedCall =
  | { readonly kind: 'ok'; readonly call: Outgoing }
  | { readonly kind: 'refused'; readonly reason: string };

/** Half characters, which a renderer or an older version may have left, become U+FFFD. */
export const resolveCall = async (core: Core, row: OutboxRow): Promise<ResolvedCall> =>
  wellFormed(await resolve(core, row));

async function resolve(core: Core, row: OutboxRow): Promise<ResolvedCall> {
  let call: StoredCall;
  try {
    call = readCall(row);
  } catch (error) {
    return { kind: 'refused', reason: messageOf(error) };
  }
  const message = 'message' in call ? await platformId(core, call.message) : undefined;
  if ('message' in call && call.message !== undefined && message === undefined)
    return { kind: 'refused', reason: 'the message that it changes never reached the platform' };
  const thread = call.thread ?? ('threadOf' in call ? await platformId(core, call.threadOf) : undefined);
  const place = { key: row.key, conversation: row.conversation, ...(thread === undefined ? {} : { thread }) };
  switch (call.kind) {
    case 'post':
    case 'edit': {
      const replyTo = await platformId(core, call.replyTo);
      const rest = {
        ...(message === undefined ? {} : { message }),
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(call.only === undefined ? {} : { only: call.only }),
      };
      return {
        kind: 'ok',
        call: {
          key: row.key,
          conversation: row.conversation,
          kind: call.kind,
          text: call.text,
          buttons: call.buttons,
          files: call.files.map((file) => fileFor(row.endpoint, file)),
          ...(thread === undefined ? {} : { thread }),
          ...rest,
        },
      };
    }
    case 'remove':
      return { kind: 'ok', call: { ...place, kind: 'remove', message: message ?? '' } };
    case 'react':
      return { kind: 'ok', call: { ...place, kind: 'react', message: message ?? '', emoji: call.emoji, on: call.on } };
  }
}

async function platformId(core: Core, ref: MessageRef | undefined): Promise<string | undefined> {
  if (ref === undefined) return undefined;
  if ('id' in ref) return ref.id;
  return (await readSendByKey(core.reader, ref.sent))?.platform_message ?? undefined;
}
