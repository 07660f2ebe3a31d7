// What each chat platform is promised, clause by clause: what goes both ways, the life of an account, deliveries → tests, or why the platform has
// nothing of it. A cell that is missing does not compile (platform-cells.ts). `host` is what the host does for all of them.
import type { ByPlatform, Clause } from './platform-cells.ts';

const PARTS_OF_THE_SUITE = 'sends a text of several times its limit in parts, whole and in order';
const NO_PRESSES = 'has no buttons: a numbered list, by whose numbers people answer';
const NO_TYPING = 'lets nobody show that they type';
const NO_ADDRESS = 'delivers nothing to an address';

const SENDS_OF_TELEGRAM = 'posts, answers, edits, reacts, removes; what is already so counts as done';
const SENDS_OF_DISCORD = 'messages, replies, edits, reactions and removals';
const SENDS_OF_SLACK = 'messages, replies in threads, edits, reactions and removals';
const SENDS_OF_XMPP =
  'edits, removes, reacts, replies, mentions and shows that it types; an edit finds its message also after a restart';
const ARRIVALS_OF_XMPP = 'takes replies, reactions, corrections and removals, and not of what others wrote';
const FILES_OF_XMPP =
  'hands files over: up through the service of the server, down from where the message says, within the limits';
const SENDS_OF_ONEBOT = 'says text with mentions and an answer in a group, and with names in private';
const CHANGES_OF_ONEBOT = 'removes and reacts, and counts what is gone as removed';
const IN_PIECES = 'delivers a line of many bytes whole, in pieces that the server does not cut';
const PRESSES_OF_LINE = 'takes presses, mentions in groups, and files; gives files back as links, and pictures by them';

const WAYS: ByPlatform = {
  telegram: [
    'gets what waited and what comes, confirms only what is stored, and ends when told',
    'prints and registers the address of a webhook, and takes what is delivered there once',
  ],
  slack: [
    'answers an event, and takes it once, also when it comes again after a kill',
    'takes commands and presses of its buttons, in the channel and in private',
    'takes envelopes of Socket Mode over a renewal and a kill, and answers each that it acknowledged',
  ],
  discord: [
    'answers each message of the gateway once, over kills at any moment, though each is told only once',
    'registers its address and its commands, and answers each interaction that it acknowledged once, over a kill',
    'registers commands with options, by their line where Discord has nothing like them, and leaves out what it does not take',
  ],
  github: [
    "reads what GitHub's own types allow",
    'takes a comment as a message in the conversation of its issue',
    'keeps review comments and discussions in threads, by their first comment',
    'takes a review that says something as a message, and another as other',
    'keeps everything else whole, by its name',
  ],
  line: ['answers a line, and takes it once, also when it comes again after a kill'],
  onebot11: [
    'hears what is said from its first event on, in order, and not what the bot said itself',
    'is online when the implementation has come, hears and answers, and is lost with its socket',
    'is online when the implementation answers, degraded when it is not well, lost when it goes',
  ],
  xmpp: ['takes what people say, in private and in a room, and knows when it is spoken to'],
  irc: ['answers questions, in channels and in private, through two accounts on two servers'],
  webhook: ['takes a delivery once, also after a kill, and answers it signed, with a key that stays the same'],
  sandbox: ['is one delivery a person and delivery id, and private without a room'],
};

const ANSWERS: ByPlatform = {
  host: [
    'reaches the thread that it was asked in',
    'names who is meant where the platform has no replies and no private lines',
  ],
  telegram: [SENDS_OF_TELEGRAM, 'has a topic as thread, and no reply to the message that opened it'],
  slack: [SENDS_OF_SLACK, 'says in which thread it was, and to what it answers'],
  discord: [SENDS_OF_DISCORD, 'into one under a message, which it opens, and goes on in'],
  github: [
    'changes the text of an issue, and answers a review in its thread',
    'speaks in discussions, under the comment that it answers',
  ],
  line: ['replies as quotes, of what came and of what it said, and without one where the token is not known'],
  onebot11: [SENDS_OF_ONEBOT, 'arrive from the example of the specification'],
  xmpp: [SENDS_OF_XMPP, ARRIVALS_OF_XMPP],
  irc: { without: 'IRC has neither: `name: ` before the text, in the channel' },
  sandbox: { without: 'the chat page has neither: `name: ` before the text' },
  webhook: [
    'reads every field of a message',
    'posts once, signed so that another implementation and our own take it, with the key as webhook-id',
  ],
};

const MENTIONS: ByPlatform = {
  telegram: [
    'renders what means something, and mentions people by name',
    'reads links, quotes, code, mentions by id and nested marks; counts UTF-16',
    'knows when a group speaks to the bot, and takes its name off',
  ],
  slack: [
    'has marks, links, mentions, code and quotes as Slack writes them',
    'reads what stands in angle brackets, and the characters that were escaped',
  ],
  discord: [
    'mentions that were meant, and no other one',
    'are spoken to the bot by a mention, which is no text at the beginning, and by a reply (P3)',
  ],
  github: [
    'mentions by `mention` alone: a written @ mentions nobody',
    'knows when it is spoken to, and takes a mention at the beginning out of the text',
  ],
  line: [
    'mentions in groups, and never by literal text',
    'is to the bot in private, by a mention, and by a quote of what it said',
  ],
  onebot11: [SENDS_OF_ONEBOT, 'are addressed by a mention of the bot, which is no part of the text'],
  xmpp: [
    'puts nicks where people are mentioned, and counts in characters (T2)',
    'knows when it is spoken to, by its whole name alone',
  ],
  irc: ['knows in which ways one speaks to it, and takes the address away (P2)'],
  sandbox: ['is spoken to in a room only by name'],
  webhook: [
    'reads mentions where they stand, and takes that of the bot away at the beginning',
    'names who is mentioned beside the text, as it stands there, and nobody by what is written',
  ],
};

const CHANGES: ByPlatform = {
  host: ['is a new message where nothing can be edited', 'is removed with all of its parts'],
  telegram: [SENDS_OF_TELEGRAM, 'reads every text of the guide'],
  slack: [
    SENDS_OF_SLACK,
    'message_changed and message_deleted',
    'is no edit when only links were unfolded or answers counted, and a deletion when a stone is left',
  ],
  discord: [SENDS_OF_DISCORD, 'are edits when they say when, and are known by that (P2)', 'are deletions, one or many'],
  github: ['comments, changes and removes, also what is gone already', 'tells created, edited and deleted apart'],
  line: [
    'tells of messages taken back, of members, and of presses',
    'nothing where LINE refuses or has no such thing, and says why',
  ],
  onebot11: [CHANGES_OF_ONEBOT, 'become deletions, members and reactions'],
  xmpp: [SENDS_OF_XMPP, ARRIVALS_OF_XMPP],
  irc: { without: 'IRC changes nothing that was said: an edit is a new message, a removal nothing' },
  sandbox: ['applies edits, removals and reactions in place, and counts them as changes (C1, C2)'],
  webhook: ['reads a removal, a press and a reaction', 'reads every field of a message'],
};

const REACTIONS: ByPlatform = {
  telegram: [SENDS_OF_TELEGRAM, 'gives each change of reactions and members an id of its own'],
  slack: [
    SENDS_OF_SLACK,
    'app_mention, reaction_added and member_joined_channel',
    'are characters to plugins and names to Slack, with their tones',
  ],
  discord: [
    SENDS_OF_DISCORD,
    'are reactions, known by session and number (P1), with characters or with an emoji of the server',
  ],
  github: ['reacts with the eight that GitHub has, takes them back, and refuses others'],
  onebot11: [
    CHANGES_OF_ONEBOT,
    'become deletions, members and reactions',
    'of reactions are emoji, or numbers of faces',
  ],
  xmpp: [SENDS_OF_XMPP, ARRIVALS_OF_XMPP],
  line: { without: 'LINE lets no bot react, and tells it of no reaction' },
  irc: { without: 'IRC knows none' },
  sandbox: ['applies edits, removals and reactions in place, and counts them as changes (C1, C2)'],
  webhook: ['reads a removal, a press and a reaction'],
};

const FILES: ByPlatform = {
  host: [
    'goes as a link where the platform takes none',
    'gets to an adapter as bytes, wherever it came from, and under its own id where it came from there',
    'are refused over files.maxFileBytes',
    'is fetched once for all who read it, and a later attempt needs no platform',
    'goes with the texts of messages, unless it was saved or something that is stored names it as its platform does',
    'is copied to data/media once, as it comes; the half that a kill leaves goes, and the next attempt has it all',
    'is refused before it is read where it is said to be too large, and on the way where nobody says it',
    'is fetched from its platform alone: no redirect leads to an address of this machine or network',
  ],
  telegram: [
    'reads every file of the guide',
    'sends files: with a short text as caption, with a long one behind it, several as albums',
    'fetches files, and names no address when it fails',
  ],
  slack: [
    'holds files with their names, kinds and sizes, and none that Slack keeps from us',
    'files in one message with its text, in a channel, a thread and in private',
    'with the token, and from the platform alone',
  ],
  discord: [
    'hold files by where they lie, without their address',
    'files with the message, and fetches those that came by where they lie',
  ],
  line: [
    'holds files by their message, and links to what lies elsewhere',
    'as a stream, once they are prepared',
    PRESSES_OF_LINE,
  ],
  onebot11: [
    'says a picture with its text, and other files as messages of their own, else as uploads',
    'are fetched by their address, by a fresh one, or out of the answer, and never by a path',
  ],
  xmpp: ['names the files of a message, each once, with what the sender says of them', FILES_OF_XMPP],
  github: { without: 'the API of GitHub takes no files into comments, and names none of those in them' },
  irc: { without: 'IRC takes none: a link, where the host has an address' },
  sandbox: { without: 'the chat page takes none: a link, where the host has an address' },
  webhook: [
    'reads files by their addresses, with or without a text, and none that is no address of the web',
    'are fetched from the host of the account and from fileHosts, without a secret',
    'sends files as signed links, and refuses one to which there is none',
    'hands files over both ways: by the address that a message names, and as a signed link',
  ],
};

const BUTTONS: ByPlatform = {
  host: ['counts in the conversation of its account to which it was sent, and nowhere else'],
  telegram: [SENDS_OF_TELEGRAM, 'takes a pressed button, and answers it in the acknowledgement'],
  slack: [
    'buttons as blocks, and takes them away with an edit',
    'takes commands and presses of its buttons, in the channel and in private',
  ],
  discord: [
    'buttons in rows of five, takes them away by an edit, and text where there are buttons alone',
    'takes a press of its button, and the same interaction at each of two accounts',
  ],
  line: ['has its buttons behind the text, with labels that LINE takes', PRESSES_OF_LINE],
  github: { without: `GitHub ${NO_PRESSES}` },
  onebot11: { without: `QQ ${NO_PRESSES}` },
  xmpp: { without: `XMPP ${NO_PRESSES}` },
  irc: { without: `IRC ${NO_PRESSES}` },
  sandbox: ['presses a button of a message'],
  webhook: [
    'reads a removal, a press and a reaction',
    'posts once, signed so that another implementation and our own take it, with the key as webhook-id',
  ],
};

const TYPING: ByPlatform = {
  telegram: [SENDS_OF_TELEGRAM],
  discord: ['to a person, in the private channel with them, which is asked for once'],
  line: ['a loading animation to people, nothing to groups'],
  xmpp: [SENDS_OF_XMPP],
  slack: { without: `Slack ${NO_TYPING} any more who is an app` },
  github: { without: `GitHub ${NO_TYPING}` },
  onebot11: { without: `OneBot ${NO_TYPING}` },
  irc: { without: `IRC ${NO_TYPING}` },
  sandbox: { without: `the chat page ${NO_TYPING}` },
  webhook: { without: 'a hint that nobody answers is no delivery' },
};

const PARTS: ByPlatform = {
  host: [
    'makes no part over the limit, in any unit and format (L1)',
    'loses no letter of segments with marks, links and blocks (L2)',
    'closes and opens fences again (K3)',
    'comes in parts where it is too long, each once, also over a kill',
  ],
  telegram: [PARTS_OF_THE_SUITE],
  slack: [
    'hold a long text in sections of 3,000, cut at lines, with fences closed and opened again',
    PARTS_OF_THE_SUITE,
  ],
  discord: [PARTS_OF_THE_SUITE],
  github: [PARTS_OF_THE_SUITE],
  line: [PARTS_OF_THE_SUITE],
  onebot11: [PARTS_OF_THE_SUITE],
  xmpp: [PARTS_OF_THE_SUITE],
  sandbox: ['sends a text of several times its limit in parts'],
  webhook: [PARTS_OF_THE_SUITE],
  irc: [
    'ends in each piece what it began, and begins it again in the next: every letter has its marks',
    'are closed and opened again where a text comes in parts, and count as bytes of it',
    'splits at blanks, loses nothing, and never cuts a character',
    { file: 'platforms/irc/inspircd.test.ts', title: IN_PIECES },
    { file: 'process/daemon/irc-ngircd.test.ts', title: IN_PIECES },
  ],
};

const MARKUP: ByPlatform = {
  host: ['is one body in the format of each platform', 'never reads values as markup'],
  telegram: ['renders what means something, and mentions people by name'],
  slack: ['has marks, links, mentions, code and quotes as Slack writes them'],
  discord: ['renders marks, links, code and quotes', 'escapes what is literal (T2)'],
  github: ['shows marks, code, quotes and links', 'escapes markup, HTML and comments'],
  line: ['is plain text, with links spelled out and blocks on lines of their own'],
  onebot11: ['of text that goes out are escaped, and mentions are codes'],
  xmpp: ['writes marks as XEP-0393 has them, blocks on lines of their own'],
  irc: [
    'are bold, italic, strikethrough and monospace; links are spelled out, blocks stand on lines of their own (M1)',
    'are read back: bold, italic, strikethrough and monospace, to their end, a reset or the end of the line (M2)',
    'says marks as codes, which reach people, and hears those of people',
    'says marks as codes, and without them where the channel blocks them (mode +c)',
  ],
  sandbox: ['escapes what markdown reads at the start of a line, and entities (R1)'],
  webhook: [
    'escapes what markdown reads at the start of a line, and entities (R1)',
    'names who is mentioned beside the text, as it stands there, and nobody by what is written',
  ],
};

const LOSSES: ByPlatform = {
  host: [
    'that fail hold back neither the start nor another, and heal by themselves',
    'that are away for hours are tried without end, and are back within a minute of their platform',
    'waits longer each time, up to a minute, each account a time of its own, and anew after half a minute online',
  ],
  telegram: ['takes a webhook away that somebody left, waits when told, and loses its connection otherwise'],
  slack: [
    'throws when nothing is heard any more, not even the answer to a ping',
    'goes over to another socket when Slack asks for it, stays online, and loses nothing',
  ],
  discord: [
    'ends, so that the host comes back with backoff, and keeps its session',
    'is resumed when a connection falls silent: its heartbeats are not acknowledged any more',
    'goes on when Discord asks to come again and when a connection is cut: online all the time, nothing lost, nothing twice',
    'harms nobody: its error is not thrown at the process',
  ],
  line: ['is lost, not failed, when LINE is in trouble, and when nobody listens'],
  onebot11: [
    'is lost when not even a ping is answered',
    'is lost, and not failed, when nobody is there, the bot is offline, or it goes offline',
  ],
  xmpp: [
    'resumes a session that broke: what was said meanwhile comes once, what was on its way is said once',
    'works with a server that acknowledges nothing and keeps nothing',
  ],
  irc: ['keeps one server when the other is killed, says so, and sends there what waited once it is back'],
  github: ['is degraded, says why, and heals by itself'],
  sandbox: { without: 'the chat page is the host itself: there is no connection' },
  webhook: { without: 'a sender of webhooks keeps no connection' },
};

const RAW_BYTES: ByPlatform = {
  telegram: ['registers with the first secret, takes every one, in constant time and only here'],
  slack: [
    { file: 'unit/adapters/slack/verify.test.ts', title: 'is refused for any other bytes (row 29)' },
    {
      file: 'unit/adapters/slack/verify.test.ts',
      title: 'is refused without secrets, with others, and with an empty one',
    },
    'is refused over five minutes away, and with a time that is not plain digits (row 30)',
  ],
  discord: [
    'says the same as discord-interactions, of good and of changed bytes',
    'tries every key (V1)',
    'refuses what is older or newer than five minutes (V2)',
  ],
  github: [
    "takes what GitHub's own library signs, by any of the secrets",
    'refuses every other form of the header, and the SHA-1 header alone',
  ],
  line: [
    { file: 'unit/adapters/line/verify.test.ts', title: 'verifies as printed, with any of the secrets' },
    'is refused when it is not the one way to write it',
    'answers 401 to what LINE has not signed, stores nothing of it, and 200 to its empty delivery',
  ],
  onebot11: [
    'is HMAC-SHA1 over the raw body, by any of the secrets',
    'is refused in any other form, with an empty secret, and for accounts of another mode',
  ],
  webhook: [
    'takes any of several secrets and any of several signatures, and skips versions that it does not know',
    'refuses a body that is not byte for byte what was signed (row 29)',
  ],
  xmpp: { without: `XMPP ${NO_ADDRESS}` },
  irc: { without: `IRC ${NO_ADDRESS}` },
  sandbox: { without: `the chat page ${NO_ADDRESS}` },
};

export const CLAUSES: readonly Clause[] = [
  { name: 'its ways of delivery', platforms: WAYS },
  { name: 'replies and threads', platforms: ANSWERS },
  { name: 'mentions', platforms: MENTIONS },
  { name: 'edits and deletions', platforms: CHANGES },
  { name: 'reactions', platforms: REACTIONS },
  { name: 'files, both ways', platforms: FILES },
  { name: 'buttons', platforms: BUTTONS },
  { name: 'typing', platforms: TYPING },
  { name: 'long texts in parts', platforms: PARTS },
  { name: 'Markdown', platforms: MARKUP },
  { name: 'connections that are lost', platforms: LOSSES },
  { name: 'raw bytes over every secret', platforms: RAW_BYTES },
];
