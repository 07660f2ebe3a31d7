// The bot's name at the beginning of a message, with marks around it that nobody sees: the command behind it is heard, on every adapter.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse as github } from '../../../worker/adapters/github/parse.ts';
import { arrivalOf as irc } from '../../../worker/adapters/irc/parse.ts';
import { heard as line } from '../../../worker/adapters/line/text.ts';
import { readMessage as onebot11 } from '../../../worker/adapters/onebot11/message/message.ts';
import { arrivalsOf as telegram } from '../../../worker/adapters/telegram/parse.ts';
import { heard as webhook } from '../../../worker/adapters/webhook/text.ts';
import { spokenTo as xmpp } from '../../../worker/adapters/xmpp/text.ts';
import { plainText } from '../../../worker/sdk/message.ts';

const BEFORE = '\u2068';
const BEHIND = '\u2069\u200b';

function telegramText(text: string, entity: object): unknown {
  const context = { botId: '1', username: 'the_bot', now: 0, isAdmin: () => false };
  const message = { message_id: 1, date: 1, chat: { id: -5, type: 'group' }, from: { id: 2, first_name: 'Ann' }, text };
  const [arrival] = telegram({ update_id: 1, message: { ...message, entities: [entity] } } as never, context);
  return arrival?.kind === 'message' && [arrival.text, arrival.addressed];
}

describe('marks around the name of the bot', () => {
  it('Telegram: as a mention, and behind a command', () => {
    const mention = { type: 'mention', offset: 1, length: 8 };
    assert.deepEqual(telegramText(`${BEFORE}@the_bot${BEHIND} /ping`, mention), ['/ping', true]);
    const command = { type: 'bot_command', offset: 1, length: 13 };
    assert.deepEqual(telegramText(`${BEFORE}/ping@the_bot now`, command), [`${BEFORE}/ping now`, true]);
  });

  it('LINE', () => {
    const mention = { mentionees: [{ index: 1, length: 4, isSelf: true }] };
    const { segments, isToBot } = line({ text: `${BEFORE}@bot${BEHIND} /ping`, mention }, []);
    assert.deepEqual([plainText(segments), isToBot], ['/ping', true]);
  });

  it('IRC', () => {
    const said = (text: string): unknown => {
      const context = {
        nick: 'Bot',
        id: 'i',
        now: 0,
        channelTypes: ['#'],
        lower: (name: string) => name.toLowerCase(),
      };
      const arrival = irc({ command: 'PRIVMSG', params: ['#c', text], nick: 'ann', tags: {} }, context);
      return arrival?.kind === 'message' && [arrival.text, arrival.addressed];
    };
    assert.deepEqual(said(`${BEFORE}bot${BEHIND}: /ping`), ['/ping', true]);
    assert.deepEqual(said(`${BEFORE}@bot${BEHIND} /ping`), ['/ping', true]);
    assert.deepEqual(said(`${BEFORE}bots: /ping`), [`${BEFORE}bots: /ping`, false]);
  });

  it('XMPP', () => {
    assert.deepEqual(xmpp(`${BEFORE}bot${BEHIND}: /ping`, 'Bot'), { text: '/ping', isSpokenTo: true });
    assert.deepEqual(xmpp(`${BEFORE}@bot${BEHIND} /ping`, 'Bot'), { text: '/ping', isSpokenTo: true });
  });

  it('OneBot', () => {
    const pieces = [BEFORE, '', `${BEHIND} /ping`].map((text) =>
      text === '' ? { type: 'at', data: { qq: '7' } } : { type: 'text', data: { text } },
    );
    const { text, isMeant } = onebot11(pieces, { self: '7', group: '1' });
    assert.deepEqual([text, isMeant], ['/ping', true]);
  });

  it('GitHub', () => {
    const body = Buffer.from(
      JSON.stringify({
        action: 'created',
        comment: { id: 1, body: `${BEFORE}@bot${BEHIND} /ping`, user: { login: 'ann', id: 1 } },
        issue: { number: 1, title: 't' },
        repository: { full_name: 'a/b' },
        sender: { login: 'ann', id: 1 },
      }),
    );
    const request = { headers: { 'x-github-event': 'issue_comment', 'x-github-delivery': 'd' }, body, receivedAt: 0 };
    const [arrival] = github(request as never, { login: 'bot' });
    assert.deepEqual(arrival?.kind === 'message' && [arrival.text, arrival.addressed], ['/ping', true]);
  });

  it('the signed webhook', () => {
    const said = webhook(`${BEFORE}@bot${BEHIND} /ping`, [{ text: '@bot', self: true }]);
    assert.deepEqual([plainText(said.text), said.isToBot], [`${BEFORE}/ping`, true]);
  });
});
