// Payloads as Discord's documentation prints them (Application Commands, Receiving and Responding, Message, Gateway Events), and a vector of RFC 8032.

/** "Slash Command Interaction", Application Commands. */
export const SLASH_COMMAND = {
  type: 2,
  token: 'A_UNIQUE_TOKEN',
  member: {
    user: {
      id: '53908232506183680',
      username: 'Mason',
      avatar: 'a_d5efa99b3eeaa7dd43acca82f5692432',
      discriminator: '1337',
      public_flags: 131_141,
    },
    roles: ['539082325061836999'],
    premium_since: null,
    permissions: '2147483647',
    pending: false,
    nick: null,
    mute: false,
    joined_at: '2017-03-13T19:19:14.040000+00:00',
    is_pending: false,
    deaf: false,
  },
  id: '786008729715212338',
  guild_id: '290926798626357999',
  app_permissions: '442368',
  guild_locale: 'en-US',
  locale: 'en-US',
  data: {
    options: [{ type: 3, name: 'cardname', value: 'The Gitrog Monster' }],
    type: 1,
    name: 'cardsearch',
    id: '771825006014889984',
  },
  channel_id: '645027906669510667',
} as const;

/** "Button Interaction", Message Components. */
export const BUTTON_PRESS = {
  version: 1,
  type: 3,
  token: 'unique_interaction_token',
  message: {
    type: 0,
    tts: false,
    timestamp: '2021-05-19T02:12:51.710000+00:00',
    pinned: false,
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    id: '844397162624450620',
    flags: 0,
    embeds: [],
    edited_timestamp: null,
    content: 'This is a message with components.',
    components: [{ type: 1, components: [{ type: 2, label: 'Click me!', style: 1, custom_id: 'click_one' }] }],
    channel_id: '345626669114982402',
    author: { username: 'Mason', public_flags: 131_141, id: '53908232506183680', discriminator: '1337' },
    attachments: [],
  },
  member: {
    user: { username: 'Mason', public_flags: 131_141, id: '53908232506183680', discriminator: '1337' },
    roles: ['290926798626357999'],
    premium_since: null,
    permissions: '17179869183',
    pending: false,
    nick: null,
    mute: false,
    joined_at: '2017-03-13T19:19:14.040000+00:00',
    is_pending: false,
    deaf: false,
    avatar: null,
  },
  id: '846462639134605312',
  guild_id: '290926798626357999',
  data: { custom_id: 'click_one', component_type: 2 },
  channel_id: '345626669114982999',
  application_id: '290926444748734465',
} as const;

/** "Example Message", Message resource. */
export const MESSAGE = {
  reactions: [
    {
      count: 1,
      count_details: { burst: 0, normal: 1 },
      me: false,
      me_burst: false,
      emoji: { id: null, name: '🔥' },
      burst_colors: [],
    },
  ],
  attachments: [],
  tts: false,
  embeds: [],
  timestamp: '2017-07-11T17:27:07.299000+00:00',
  mention_everyone: false,
  id: '334385199974967042',
  pinned: false,
  edited_timestamp: null,
  author: {
    username: 'Mason',
    discriminator: '9999',
    id: '53908099506183680',
    avatar: 'a_bab14f271d565501444b2ca3be944b25',
  },
  mention_roles: [],
  content: 'Supa Hot',
  channel_id: '290926798999357250',
  mentions: [],
  type: 0,
} as const;

/** Test 3 of RFC 8032, section 7.1, whose message is two bytes; no timestamp of Discord, but a signature that nobody here made. */
export const RFC_8032 = {
  publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
  message: 'af82',
  signature:
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
} as const;
