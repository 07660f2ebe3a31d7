// Updates that others published, as they stand there: the samples of "Testing your bot with updates" in Telegram's guide to webhooks
// (core.telegram.org/bots/webhooks).

const CHAT = {
  last_name: 'Test Lastname',
  id: 1_111_111,
  type: 'private',
  first_name: 'Test Firstname',
  username: 'Testusername',
};
const { type: _, ...FROM } = CHAT;
const MESSAGE = { date: 1_441_645_532, chat: CHAT, message_id: 1_365, from: FROM };

/** By the name that the guide gives them. */
export const PUBLISHED = {
  'Message with text using curl': {
    update_id: 10_000,
    message: {
      date: 1_441_645_532,
      chat: { last_name: 'Test Lastname', id: 1_111_111, first_name: 'Test', username: 'Test' },
      message_id: 1_365,
      from: { last_name: 'Test Lastname', id: 1_111_111, first_name: 'Test', username: 'Test' },
      text: '/start',
    },
  },
  'Message with text': { update_id: 10_000, message: { ...MESSAGE, text: '/start' } },
  'Forwarded message': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      forward_from: { last_name: 'Forward Lastname', id: 222_222, first_name: 'Forward Firstname' },
      forward_date: 1_441_645_550,
      text: '/start',
    },
  },
  'Forwarded channel message': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      forward_from: { id: -10_000_000_000, type: 'channel', title: 'Test channel' },
      forward_date: 1_441_645_550,
      text: '/start',
    },
  },
  'Message with a reply': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      text: '/start',
      reply_to_message: {
        date: 1_441_645_000,
        chat: {
          last_name: 'Reply Lastname',
          type: 'private',
          id: 1_111_112,
          first_name: 'Reply Firstname',
          username: 'Testusername',
        },
        message_id: 1_334,
        text: 'Original',
      },
    },
  },
  'Edited message': {
    update_id: 10_000,
    edited_message: { ...MESSAGE, text: 'Edited text', edit_date: 1_441_646_600 },
  },
  'Message with entities': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      text: 'Bold and italics',
      entities: [
        { type: 'italic', offset: 9, length: 7 },
        { type: 'bold', offset: 0, length: 4 },
      ],
    },
  },
  'Message with audio': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      audio: {
        file_id: 'AwADBAADbXXXXXXXXXXXGBdhD2l6_XX',
        duration: 243,
        mime_type: 'audio/mpeg',
        file_size: 3_897_500,
        title: 'Test music file',
      },
    },
  },
  'Voice message': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      voice: {
        file_id: 'AwADBAADbXXXXXXXXXXXGBdhD2l6_XX',
        duration: 5,
        mime_type: 'audio/ogg',
        file_size: 23_000,
      },
    },
  },
  'Message with a document': {
    update_id: 10_000,
    message: {
      ...MESSAGE,
      document: {
        file_id: 'AwADBAADbXXXXXXXXXXXGBdhD2l6_XX',
        file_name: 'Testfile.pdf',
        mime_type: 'application/pdf',
        file_size: 536_392,
      },
    },
  },
  'Inline query': {
    update_id: 10_000,
    inline_query: { id: 134_567_890_097, from: CHAT, query: 'inline query', offset: '' },
  },
  'Chosen inline query': {
    update_id: 10_000,
    chosen_inline_result: { result_id: '12', from: CHAT, query: 'inline query', inline_message_id: '1234csdbsk4839' },
  },
  'Callback query': {
    update_id: 10_000,
    callback_query: {
      id: '4382bfdwdsb323b2d9',
      from: CHAT,
      data: 'Data from button callback',
      inline_message_id: '1234csdbsk4839',
    },
  },
} as const;
