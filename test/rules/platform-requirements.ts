// What chat platforms are promised, and what their accounts are → tests. Each adapter also runs the conformance suite (test/contract/adapter-*).
import type { Requirement } from './requirements.ts';

export const PLATFORMS: readonly Requirement[] = [
  {
    id: 'platforms: each fake is driven by a client that others wrote',
    tests: [
      'serves a bot: polls, commands, answers, buttons; confirms by offset',
      'takes messages, edits, reactions and deletions, with the errors of the platform',
      'takes, lists, changes and removes comments',
      'takes messages, and the same nonce once',
      'answers GraphQL about discussions by the published schema, and refuses with 200',
      'is renewed when it is asked to, and goes on',
      'identifies, tells what is said, and acknowledges heartbeats',
      'takes messages with mentions, answers and pictures, and gives, reacts to and removes them',
      'is one to the client library: login, session, messages both ways, a refused password',
      '${place} and ${name} understand each other',
      'of draft/chathistory are what the server with a history says',
    ],
  },
  {
    id: 'platforms: frames of those clients are recorded',
    tests: [
      'are what the client says today, and what the fake answers',
      'are understood by the fake without the client',
      'of XMPP are what the library says today, and what the scripted server answers',
      "of Socket Mode are what Slack's own framework says today, and what the fake tells it",
      'are what the platform delivers today, and what a bot of others answers',
      'of IRC are what ${name} says today, and what the fake answers',
      'posts and asks for a WebSocket as the specification prints it',
    ],
  },
  {
    id: 'platforms: the examples that platforms have published',
    tests: [
      'takes the published example',
      { file: 'unit/adapters/line/verify.test.ts', title: 'verifies as printed, with any of the secrets' },
      { file: 'unit/adapters/slack/verify.test.ts', title: 'verifies as printed, with any of the secrets' },
      "signs so that LINE's own check holds",
      'takes a signature of RFC 8032, and none that differs in a bit',
      'takes the vector of the specification',
      'reads every text of the guide',
      'answers a call over WebSocket with its echo, and with 1404 for an action that it does not have',
    ],
  },
  {
    id: 'platforms: IRC and XMPP at servers that others wrote',
    tests: [
      'takes lines with the ids and times of the server, in channels and in private, and not its own echo',
      'takes what people say, in private and in a room, and knows when it is spoken to',
      'logs in over STARTTLS and direct TLS, and takes no certificate that nobody vouches for',
    ],
  },
  {
    id: 'platforms: what was acknowledged is handled over a kill, though it comes once',
    tests: [
      'answers each delivery that was acknowledged before a kill, though none comes again',
      'answers each event that was acknowledged before a kill, though none comes again',
      'loses nothing that came once and was acknowledged before a kill -9',
      'loses and doubles nothing over kills: stored and not answered, while it was down',
      'answers each message of the gateway once, over kills at any moment, though each is told only once',
      'registers its address and its commands, and answers each interaction that it acknowledged once, over a kill',
      'handles and answers once, over kills: stored and not answered, answered and not noted, while it was down',
      'takes envelopes of Socket Mode over a renewal and a kill, and answers each that it acknowledged',
    ],
  },
  {
    id: 'platforms: the oracle of the kills finds what is planted',
    tests: [
      'has nothing against a run that kept every promise',
      'sees an acknowledged line without an answer',
      'sees a line that was handled twice, and two that were handled as one',
      'sees an answer to nothing',
    ],
  },
  {
    id: 'platforms: a wrong signature is 401 and nothing is stored; handshakes are answered',
    tests: [
      'answers 401 to what Discord has not signed, stores nothing of it, and PONG to a PING that is signed',
      'answers 401 to what Slack has not signed, stores nothing of it, and answers the challenge when it is signed',
      'answers 401 to a wrong signature and stores nothing; a ping is answered, own comments are dropped',
      'registers with the first secret, takes every one, in constant time and only here',
      'refuses WebSockets before they open, takes each token, and comes back after a kill, a disable and a stop',
    ],
  },
  {
    id: 'platforms: two accounts share no id space',
    tests: [
      {
        file: 'platforms/line/host.test.ts',
        title: 'takes the same id at each of two accounts, and nothing that the bot said itself',
      },
      {
        file: 'platforms/slack/host.test.ts',
        title: 'takes the same id at each of two accounts, and nothing that the bot said itself',
      },
      'refuses a signature by the secret of another endpoint (row 32)',
      'takes a press of its button, and the same interaction at each of two accounts',
      'answers in each of the three ways, with the same ids at all of them, once, also after a kill',
    ],
  },
  {
    id: 'platforms: twenty accounts of one platform in one worker',
    tests: ['serves each by itself, whatever becomes of the others, also after a kill'],
  },
  {
    id: 'platforms: a revoked token is failed with the remedy, never a loop',
    tests: [
      'ends a revoked token as failed with the remedy, asks no more, and serves the other bot',
      'fails an account whose token is revoked, with its remedy, and does not try again',
      'fails an account whose token is revoked, with its remedy, does not try again, and serves the other one',
      'fails an account whose token is refused, with its remedy, is degraded where it is not well, and comes back when it was cut',
      'fails an account whose password is refused, with the remedy, and the other one works on',
      'is registered by the command, and fails with its remedy when its token is revoked',
      'fails the account on a wrong password, a ban and a refused SASL account',
      'fails an account whose secret can never verify, with its remedy, and serves the others',
      'ends the account at a token that GitHub does not know, and tells it nowhere',
      'throws where it may have happened, and ends the account for a token alone',
    ],
  },
  {
    id: 'platforms: resume and catching up after an outage',
    tests: [
      'goes on from its cursor, also where ids have started anew, and not from that of another bot',
      'is resumed by another process, which hears what was not stored and what was said in between, once',
      'that is over is left, and what was said without one is fetched, before what is said later',
      'asks GitHub at a start to repeat what failed while it was down, and asks once',
      'with what was said in channels, in threads and in private, under the ids of the events',
      'is completed from the history after an outage, before what comes live, once, and without what the bot said',
      'takes once, and in order, what came while it was away, in private and in rooms with and without an archive',
      'takes once what a channel with a history tells again when it comes back',
      'is asked for what was missed, in channels and in private, before what is said meanwhile',
      'is asked for by times where the server knows no ids, and leaves out none of one moment',
      'keeps the gap when it could not be filled, says so, and fills it the next time',
      'ask again for what they could not fetch, while the connection stands',
      'that the server could not read for now is asked for again while the connection stands',
    ],
  },
  {
    id: 'platforms: rate limits are obeyed, for each account',
    tests: [
      'follows a group that became a supergroup, and keeps to 20 messages a minute in it',
      'later as Slack asks, once each call, and throws where it may have happened',
      'waits as long as GitHub says, for all of the account, and makes no call meanwhile',
      'for now are waited for: of a channel, which is not asked meanwhile, and of all of Discord',
      'asks for nothing more once 8,000 requests were refused in ten minutes',
      'later where too much was asked, no more calls until then; the quota of a month is a refusal',
      'stays within the flood limit of the server: every line arrives, none ends the connection',
      'is that of the implementation where it asks for later: nothing else of the account is sent until then',
      'waits where the server says so, and throws where it may have taken the post',
      'waits as Retry-After says, in seconds or as a date, else 5 s',
    ],
  },
  {
    id: 'platforms: a send whose answer was lost is shown once where that can be known',
    tests: [
      'shows a post once whose answer was lost in a kill',
      'a post once, also when its answer is lost',
      'once what may have been taken, and knows its id',
      'finds what an attempt without an answer has made, wherever it was made',
      'what may have been taken only when it is not there: in a channel, a thread and in private',
      'looks for a post before it says it again',
    ],
  },
  {
    id: 'platforms: a kill repeats one call of a post at most',
    tests: [
      'repeats one call at most for a kill where the platform drops no repeats',
      'says again after a kill no more than the call that was on its way, of a text with files',
    ],
  },
  {
    id: 'platforms: files are streamed and bounded',
    tests: [
      'goes to Slack as it is read, with its size',
      'goes to Telegram as it is read',
      'that lies on a platform is cut at the limit',
      'hands files over: up through the service of the server, down from where the message says, within the limits',
    ],
  },
  {
    id: 'platforms: an account says since when, what went wrong last and how often it came back',
    tests: [
      'says since when it is so, what went wrong last, and how often it came back, also when it is well again',
      'takes deliveries unless it is disabled or failed, sends only while it is connected',
      'are degraded for as long as anything is said against them',
    ],
  },
  {
    id: 'platforms: enable, disable and reconnect one account while running',
    tests: [
      'obey an operator over restarts and reloads',
      'find an endpoint by its short name and by its full id, slashes as they are',
      'chats, lists, pauses, disables and follows',
      'refuses WebSockets before they open, takes each token, and comes back after a kill, a disable and a stop',
    ],
  },
  {
    id: 'platforms: a delivery that comes again is known, until its id is over',
    tests: [
      'takes a delivery id once, over a reopened database too',
      'does not store the same id with another body, and says so once',
      'erases texts, then ids and sent messages after their days; dead letters stay, dropped ones do not',
      'gives nothing again whose id the host may have forgotten: the last message of a conversation that was quiet',
    ],
  },
  {
    id: 'platforms: a wrong signature is counted, and said once a minute',
    tests: [
      'answers 401 to what is not signed as it must be, and tells nothing (rows 29, 30, 32)',
      'says once a minute for each account that deliveries are refused, and how many it left out',
    ],
  },
  {
    id: 'platforms: a limit of size for each platform',
    tests: [
      'takes up to 25 MiB, as GitHub sends it',
      'refuses a body over the limit before reading it, and cuts an endless one (row 25)',
      'are cut when they answer no ping, and refused a message that is too large',
    ],
  },
  {
    id: 'platforms: folders of the same files, whose README says what becomes of what, and that no platform was tried live',
    tests: [
      'have the same files: config, parse and send, verify where deliveries come, connect where a connection is kept',
      'have a README that shows a configuration, how to check an account, and what becomes of what the platform lacks',
      'say of every platform that the adapter has not run against it',
    ],
  },
  {
    id: 'platforms: a plugin is tested in the package, without a network',
    tests: [
      'gives a plugin the SDK and its test host, which needs no network',
      'has a plugin and an adapter whose tests pass',
      'has an adapter that takes what is signed',
    ],
  },
  {
    id: 'platforms: svc webhooks url and register',
    tests: [
      'prints all addresses, and how each is registered',
      'prints and registers the address of a webhook, and takes what is delivered there once',
      'registers its webhook at GitHub, and sets it again',
      'registers its address and its commands, and answers each interaction that it acknowledged once, over a kill',
      'registers its address, has LINE try it, and says what is wrong',
    ],
  },
  {
    id: 'platforms: svc doctor --endpoint',
    tests: [
      'asks about every account of the slot, by questions that change nothing',
      'knows the bot and its scopes over HTTP, and in Socket Mode opens no socket',
      'tells whose token it is, which intents are on and how many sessions are left, by asking alone',
      'knows the login, its scopes, the webhook and its deliveries, by reading alone',
      'tells whose token it is, where deliveries go and what is left of the quota, by asking alone',
      'knows bot, status and implementation over a WebSocket and over HTTP, and changes nothing',
      'logs in beside the host, tells what server and rooms can, and disturbs nobody',
      'registers as the host does, joins nothing, says nothing, and goes',
      'asks whether anybody is there, without a message, and compares the clocks',
      'is the only one that asks: svc doctor by itself uses no network',
      'is wrong usage for a name that is none, for a plugin, and beside other questions',
    ],
  },
  {
    id: 'platforms: the suite of adapters (svc/testing) tries every promise of an adapter, and finds what breaks it',
    tests: [
      'finds nothing against an adapter that keeps its promises, and what is broken by each that does not',
      'names every promise for every adapter, and why one is not tried',
      // Lifecycle and reconnect.
      'comes online over its connection, twice, and ends an account whose token is refused',
      'brings over its connection what came, once and in order',
      'a connection that the platform ends is lost, not the account: the next brings what is missing, once',
      // Several accounts.
      'two accounts: each hears what comes to it, also when the other has left',
      'two accounts: the same delivery is an item of each',
      'two accounts: each sends to its own platform, the same key too',
      'two accounts: a refused token ends one, not the other',
      // Own messages, order, duplicates.
      'acknowledges what the account itself said, and stores nothing of it',
      'stores several messages in their order',
      'takes a delivery once',
      // Splitting, rate limit, secrets.
      'sends a text of several times its limit in parts, whole and in order',
      'passes Retry-After on, refuses what the platform refuses',
      'two sends to two conversations wait while the platform asks for it, and are taken in order after that',
      'no secret in logs, in faults or in what is stored',
      // A crash between acknowledgement and handling.
      'takes once what was delivered before a crash, stored or not',
      'loses nothing and brings nothing twice over a crash before and after each commit',
      'a send that a crash repeats is the same message',
    ],
  },
  {
    id: 'platforms: an adapter in a package of its own, in under 100 lines',
    tests: [
      'has under 100 lines',
      'passes the suite of adapters from its own folder',
      'is installed, configured, checked, and hears and answers once each, over kills of the host',
    ],
  },
];
