// What an app lays out without a text: the words of its blocks, of its attachments and of their fields.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from '../../../../worker/adapters/slack/parse.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import { plainText } from '../../../../worker/sdk/message.ts';

const BOT = { type: 'message', subtype: 'bot_message', bot_id: 'B9', username: 'Alerts', channel: 'C1', text: '' };

function arrivals(event: object): readonly Arrival[] {
  const payload = { type: 'event_callback', team_id: 'T1', event_id: 'E1', event_time: 1, event };
  const body = Buffer.from(JSON.stringify(payload));
  const headers = { 'content-type': 'application/json' };
  return parse({ method: 'POST', path: '', query: {}, headers, body, receivedAt: 0 }, { bots: true });
}
function textOf(message: object): string {
  const [arrival] = arrivals({ ...BOT, channel_type: 'channel', ts: '1764195601.000001', ...message });
  return arrival?.kind === 'message' ? plainText(arrival.text) : `no message: ${arrival?.kind}`;
}
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const plain = (text: string) => ({ type: 'plain_text', text });
const rich = (...elements: object[]) => ({ type: 'rich_text', elements });
const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
const text = (words: string) => ({ type: 'text', text: words });

describe('a message of an app without a text', () => {
  it('has the words of its blocks, a line each', () => {
    assert.equal(textOf({ blocks: [rich(section(text('disk is full')))] }), 'disk is full');
    const blocks = [
      { type: 'header', text: plain('ALERT') },
      { type: 'divider' },
      { type: 'section', text: mrkdwn('*disk* is &gt; full'), fields: [mrkdwn('host: a'), plain('zone: <b>')] },
      { type: 'image', title: plain('load'), alt_text: 'a graph' },
      { type: 'image', alt_text: 'a graph' },
      { type: 'actions', elements: [{ type: 'button', text: plain('Mute') }] },
      { type: 'context', elements: [mrkdwn('now'), { type: 'image', alt_text: 'dot' }] },
      { type: 'markdown', text: '**all**' },
    ];
    assert.equal(textOf({ blocks }), 'ALERT\n*disk* is > full\nhost: a\nzone: <b>\nload\na graph\nnow\ndot\n**all**');
  });

  it('has what stands in rich text: lists, links, persons, emoji, code, and a table row by row', () => {
    const list = { type: 'rich_text_list', style: 'bullet', elements: [section(text('one')), section(text('two'))] };
    const elements = [
      section(text('ask '), { type: 'user', user_id: 'U7' }, text(' '), { type: 'emoji', name: '+1' }),
      list,
      { type: 'rich_text_preformatted', elements: [text('df -h')] },
      { type: 'rich_text_quote', elements: [{ type: 'link', url: 'https://a.example', text: 'this' }] },
    ];
    const table = { type: 'table', rows: [[{ type: 'raw_text', text: 'a' }, rich(section(text('b')))]] };
    assert.equal(
      textOf({ blocks: [rich(...elements), table] }),
      'ask @U7 👍\n• one\n• two\ndf -h\nthis (https://a.example)\na | b',
    );
  });

  it('has the words of its attachments: fields, blocks, else the fallback', () => {
    const blocks = [{ type: 'section', text: mrkdwn('disk is full') }];
    assert.equal(
      textOf({ attachments: [{ color: '#f00', fallback: '[no preview available]', blocks }] }),
      'disk is full',
    );
    assert.equal(textOf({ attachments: [{ fields: [{ title: 'Severity', value: 'high' }] }] }), 'Severity\nhigh');
    assert.equal(
      textOf({ blocks, attachments: [{ title: 'df', fallback: 'x' }, { fallback: 'y' }] }),
      'disk is full\ndf\ny',
    );
    const share = { is_share: true, message_blocks: [{ message: { blocks } }], fallback: 'x' };
    assert.equal(textOf({ attachments: [share] }), '> disk is full');
  });

  it('is edited in its blocks; links that were unfolded are no edit', () => {
    const shown = (words: string, more: object = {}) => ({
      ...BOT,
      ts: '1.0',
      blocks: [{ type: 'section', text: mrkdwn(words) }],
      ...more,
    });
    const changed = (message: object) =>
      arrivals({ ...BOT, subtype: 'message_changed', ts: '2.0', message, previous_message: shown('full') });
    const edited = { edited: { ts: '1.5' } };
    assert.deepEqual(
      changed(shown('free', edited)).map(({ kind }) => kind),
      ['edited'],
    );
    assert.deepEqual(changed(shown('full', edited)), []);
    assert.deepEqual(changed(shown('full', { attachments: [{ title: 'unfolded' }] })), []);
  });

  it('keeps the text alone where it has one, and takes blocks of a form nobody knows', () => {
    assert.equal(
      textOf({ text: 'own', blocks: [rich(section(text('own in blocks')))], attachments: [{ title: 't' }] }),
      'own',
    );
    const odd = [{}, { type: 'new' }, { type: 'rich_text', elements: 5 }, { type: 'table', rows: [null, 5, [7]] }];
    assert.equal(textOf({ blocks: [...odd, { type: 'section', text: mrkdwn('seen') }] }), 'seen');
  });
});
