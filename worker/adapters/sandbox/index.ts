// sandbox: chatting with the bot without any platform, on the chat page and with `svc chat`.
//
// There is nothing outside to send to: the row of the outbox is the message. So `send` only accepts, and may be repeated; what a person
// sees is folded from stored rows (chat-view.ts). Lines of people come in as arrivals (arrival.ts) that the host stores like any other.
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
