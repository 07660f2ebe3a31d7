// Payloads and the signature as Slack's documentation prints them (docs.slack.dev: reference/events, reference/interaction-payloads,
// authentication/verifying-requests-from-slack), and frames of Socket Mode (apis/events-api/using-socket-mode).

const wrapper = (event: object, id = 'Ev123ABC456', user = 'U123ABC456') => ({
  token: 'XXYYZZ',
  team_id: 'T123ABC456',
  api_app_id: 'A123ABC456',
  event,
  type: 'event_callback',
  authorizations: [{ team_id: 'T123ABC456', user_id: user, is_bot: false, is_enterprise_install: false }],
  event_context: 'EC123ABC456',
  event_id: id,
  event_time: 1_355_517_523,
});

export const MESSAGE = wrapper({
  type: 'message',
  channel: 'C123ABC456',
  user: 'U123ABC456',
  text: 'Hello world',
  ts: '1355517523.000005',
  channel_type: 'channel',
});

export const MESSAGE_CHANGED = wrapper({
  type: 'message',
  subtype: 'message_changed',
  hidden: true,
  channel: 'C123ABC456',
  ts: '1358878755.000001',
  message: {
    type: 'message',
    user: 'U123ABC456',
    text: 'Hello, world!',
    ts: '1355517523.000005',
    edited: { user: 'U123ABC456', ts: '1358878755.000001' },
  },
});

export const MESSAGE_DELETED = wrapper({
  type: 'message',
  subtype: 'message_deleted',
  hidden: true,
  channel: 'C123ABC456',
  ts: '1358878755.000001',
  deleted_ts: '1358878749.000002',
  event_ts: '1358878755.000002',
});

export const APP_MENTION = wrapper({
  type: 'app_mention',
  user: 'U061F7AUR',
  text: '<@U0LAN0Z89> is it everything a river should be?',
  ts: '1515449522.000016',
  channel: 'C123ABC456',
  event_ts: '1515449522000016',
});

export const REACTION_ADDED = wrapper({
  type: 'reaction_added',
  user: 'U123ABC456',
  reaction: 'thumbsup',
  item_user: 'U222222222',
  item: { type: 'message', channel: 'C123ABC456', ts: '1464196127.000002' },
  event_ts: '1465244570.336841',
});

export const MEMBER_JOINED = wrapper({
  type: 'member_joined_channel',
  user: 'W123ABC456',
  channel: 'C123ABC456',
  channel_type: 'C',
  team: 'T123ABC456',
  inviter: 'U123456789',
  enterprise: 'E123456789',
});

export const BLOCK_ACTIONS = {
  type: 'block_actions',
  team: { id: 'T9TK3CUKW', domain: 'example' },
  user: { id: 'UA8RXUSPL', username: 'jtorrance', team_id: 'T9TK3CUKW' },
  api_app_id: 'AABA1ABCD',
  token: '9s8d9as89d8as9d8as989',
  container: {
    type: 'message_attachment',
    message_ts: '1548261231.000200',
    attachment_id: 1,
    channel_id: 'CBR2V3XEX',
    is_ephemeral: false,
    is_app_unfurl: false,
  },
  trigger_id: '12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3',
  channel: { id: 'CBR2V3XEX', name: 'review-updates' },
  message: {
    bot_id: 'BAH5CA16Z',
    type: 'message',
    text: 'This content can not be displayed.',
    user: 'UAJ2RU415',
    ts: '1548261231.000200',
  },
  response_url: 'https://hooks.slack.com/actions/AABA1ABCD/1232321423432/D09sSasdasdAS9091209',
  actions: [
    {
      action_id: 'WaXA',
      block_id: '=qXel',
      text: { type: 'plain_text', text: 'View', emoji: true },
      value: 'click_me_123',
      type: 'button',
      action_ts: '1548426417.840180',
    },
  ],
};

/** The worked example of a signed request: a slash command. */
export const SIGNED = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  timestamp: '1531420618',
  body:
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
    '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
    '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
    '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
};

export const CHALLENGE = {
  token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl',
  challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
  type: 'url_verification',
};

export const HELLO = {
  type: 'hello',
  connection_info: { app_id: 'A1234' },
  num_connections: 1,
  debug_info: { host: 'applink-7fc4fdbb64-4x5xq', build_number: 10, approximate_connection_time: 18_060 },
};

export const DISCONNECT = {
  type: 'disconnect',
  reason: 'refresh_requested',
  debug_info: { host: 'wss-111.slack.com' },
};
