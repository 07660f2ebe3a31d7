// The suite that every adapter runs, for irc: over its connection to a server of the test, which has no HTTP.
import { after, before } from 'node:test';
import { irc } from '../../worker/adapters/irc/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';
import { ircAccount } from '../support/irc/irc-account.ts';
import { type ScriptedIrc, scriptedIrc } from '../support/irc/scripted-irc.ts';

const PASSWORD = 'pass-of-the-server';
/** Said as soon as the bot is in the channel; the second line is its own, as servers with echo-message give it back. */
const SAID = [
  '@msgid=a1 :ann!u@h PRIVMSG #room :one',
  '@msgid=a2 :svcbot!u@h PRIVMSG #room :two',
  '@msgid=a3 :bob!u@h PRIVMSG #room :three',
];

let server: ScriptedIrc;
let isRefused = false;
/** What becomes of lines of the bot: seconds to wait, refused once, or nothing. */
let waitSeconds: number | undefined;
let isUnwelcome = false;
const ends: (() => void | Promise<void>)[] = [];
before(async () => {
  server = await scriptedIrc(
    { after: (end) => void ends.push(end) },
    {
      registration: { capabilities: ['message-tags'] },
      answer(line) {
        const [command, channel] = line.split(' ');
        if (Buffer.byteLength(line) > 510) return [':s 417 svcbot :Input line was too long'];
        if (line.startsWith('PRIVMSG ') && waitSeconds !== undefined)
          return [`:s 439 svcbot ${channel} :Message target change too fast. Please wait ${waitSeconds} seconds`];
        if (line.startsWith('PRIVMSG ') && isUnwelcome) {
          isUnwelcome = false;
          return [`:s 404 svcbot ${channel} :Cannot send to channel`];
        }
        if (line.startsWith('PASS ')) isRefused = line !== `PASS ${PASSWORD}`;
        if (command === 'USER' && isRefused) return [':s 464 svcbot :Password incorrect', 'ERROR :Closing Link'];
        if (command === 'JOIN') return [`:svcbot!u@h JOIN ${channel}`, `:s 366 svcbot ${channel} :End`, ...SAID];
        return undefined;
      },
    },
  );
});
after(async () => {
  for (const end of ends) await end();
});

adapterContract(irc, {
  account: () => ({ ...ircAccount(server.port), password: PASSWORD }),
  conversation: '#room',
  history: ['a1', 'a3'],
  secrets: [PASSWORD],
  refused: () => ({ ...ircAccount(server.port), password: 'another one' }),
  taken: () => server.lines.map(({ text }) => text).filter((text) => text.startsWith('PRIVMSG ')),
  cut: () => server.cut(),
  slows: (afterMs) => void (waitSeconds = afterMs === undefined ? undefined : afterMs / 1_000),
  refuses: () => void (isUnwelcome = true),
  elsewhere: 'ann',
  without: {
    webhook: 'IRC says everything over the connection',
    catchUp: 'what was missed comes over the connection, before what is said (irc-history.test.ts)',
    idempotent: 'IRC knows no keys by which a server could drop a repeat',
    finds: 'IRC shows nobody what they have said themselves before',
    edit: 'what was said on IRC stays as it is',
    react: 'IRC knows no reactions',
    remove: 'what was said on IRC stays as it is',
  },
});
