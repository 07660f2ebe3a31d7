// sandbox: adapter for a chat without any platform, on the chat page and with `svc chat`.
//
// No platform receives the messages: the outbox row itself is the message. `send` therefore only accepts, and a retry is harmless.
// People's lines are stored as arrivals (arrival.ts). chat-view.ts builds a person's view from the stored rows.
import { defineAdapter } from '../../sdk/index.ts';
import { conversationId } from './arrival.ts';
import { sandboxMessageId } from './chat-view.ts';

export const sandbox = defineAdapter({
  name: 'sandbox',
  account: {},
  can: {
    text: { limit: 8_000, unit: 'codepoints', render: 'markdown' },
    buttons: 25,
    edit: true,
    remove: true,
    react: true,
    only: true,
    idempotent: true,
  },
  direct: (person) => conversationId({ person, room: undefined }),
  send: (call) =>
    Promise.resolve(
      call.kind === 'typing'
        ? { kind: 'refused', reason: 'the chat page shows no typing' }
        : { kind: 'sent', message: sandboxMessageId(call.key) },
    ),
  async *check() {
    yield { name: 'platform', status: 'ok', detail: 'nothing outside to ask: the chat page at / and svc chat' };
  },
});
