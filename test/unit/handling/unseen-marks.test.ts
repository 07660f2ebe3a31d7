// Marks that nobody sees at the edges of words, and the full-width sign: a command runs as if they were not there.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { argumentsOf, readCommand } from '../../../worker/handling/plan/command-line.ts';
import { helpList, unknownCommand } from '../../../worker/plugins/help/rules.ts';
import { definePlugin, type Segment, t } from '../../../worker/sdk/index.ts';
import { looksLikeCommand } from '../../../worker/sdk/text/command-sign.ts';
import { withoutMention } from '../../../worker/sdk/text/segment-list.ts';
import { trimUnseen } from '../../../worker/sdk/text/unseen-edges.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';

/** All default-ignorable characters of Unicode, marks of direction included. */
const IGNORABLE = Array.from({ length: 0x11_00_00 }, (_, code) => code)
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code))
  .filter((letter) => /\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/u.test(letter));

const args = { in: t.duration(), n: t.integer(), size: t.enum(['small', 'large']), who: t.string(), text: t.rest() };
const command = {
  name: 'remind',
  spec: { summary: 's', aliases: ['r'], phrases: ['in {in} {n} {size} {who} say {text}'], args },
} as never;
const valueOf = (text: string): unknown => {
  const typed = readCommand(command, text, { prefix: '/', spokenTo: true });
  return typed === undefined ? undefined : argumentsOf(command, typed, { prefix: '/', language: 'en' });
};
const WHOLE = { ok: true, value: { in: 300_000, n: 2, size: 'large', who: 'ann', text: 'green tea' } };

describe('marks at the edges of words', () => {
  it('change no command, whichever they are and whichever word has them', () => {
    assert.ok(IGNORABLE.length > 4_000);
    for (const mark of IGNORABLE) {
      for (const line of ['/remind 5m 2 large ann green tea', 'in 5m 2 large ann say green tea']) {
        const each = line.split(' ').map((word) => `${mark}${word}${mark}`);
        // The words of the text that takes the rest of the line keep their marks inside.
        const typed = [...each.slice(0, -2), `${mark}green tea${mark}`].join(' ');
        assert.deepEqual(valueOf(typed), WHOLE, JSON.stringify(typed));
      }
    }
  });

  it('stand before and behind the sign, the name, an option, a quote and the name of a list', () => {
    for (const typed of [
      '\u200e/\u200fremind\u2066 5m 2 large ann green tea',
      '\u200b /remind 5m \u200e 2 large ann green tea\u200b',
      '/remind \u200e--in\u200e 5m\u200e 2 large ann green tea',
      '/remind 5m 2 large \u200e"ann"\u200e green tea',
      '/remind 5m 2 large "\u200eann\u200e" green tea',
      '\uff0fremind 5m 2 large ann green tea',
      '\uff0f\uff52\uff45\uff4d\uff49\uff4e\uff44\u3000\uff15m'.replace('\uff15', '5') + ' 2 large ann green tea',
    ])
      assert.deepEqual(valueOf(typed), WHOLE, JSON.stringify(typed));
  });

  it('leave what is inside a word or shapes its last letter', () => {
    for (const word of [
      '👩\u200d🚀',
      '❤\ufe0f',
      '🏴\u{e0067}\u{e0062}\u{e007f}',
      '葛\u{e0100}',
      'می\u200cخواهم',
      'a\u00adb',
    ])
      assert.equal(trimUnseen(`\u200e${word}\u200e`), word);
    assert.equal(trimUnseen('5\ufe0f'), '5');
    assert.equal(trimUnseen('\u2068tea\u2069'), 'tea');
    assert.equal(
      trimUnseen('say \u2067a b\u2069'),
      'say \u2067a b\u2069',
      'a direction that is opened inside is closed',
    );
    assert.equal(trimUnseen('\u200e\u{e0020} \u200b'), '');
    assert.equal(trimUnseen('a\ud83d'), 'a\ud83d');
  });

  it('make no command of another text', () => {
    for (const text of ['remind 5m', '/rem\u200bind 5m', '/ remind 5m', '\\/remind 5m'])
      assert.equal(valueOf(text), undefined);
    assert.equal(readCommand(command, '！remind 5m', { prefix: '!', spokenTo: false })?.kind, 'line');
  });

  it('do not hide a command from an adapter that looks who wrote it', () => {
    for (const text of ['/x', '\ufeff/x', ' /x', '\u200e/x', '\uff0fx'])
      assert.ok(looksLikeCommand(text), JSON.stringify(text));
    for (const text of ['x', '\u200ex', '\u200b 5', '']) assert.ok(!looksLikeCommand(text), JSON.stringify(text));
  });

  it('stand before and behind the mention of the bot at the beginning', () => {
    const bot: Segment = { kind: 'mention', user: { endpoint: '', id: 'bot' } };
    const said = (text: string): Segment => ({ kind: 'text', text });
    assert.deepEqual(withoutMention([said('\u2068'), bot, said('\u2069: /x')], 'bot'), [said('/x')]);
    assert.deepEqual(withoutMention([said('\u2068'), bot], 'bot'), []);
    assert.deepEqual(withoutMention([said('hi '), bot], 'bot'), [said('hi '), bot]);
    assert.deepEqual(withoutMention([said('\u2068'), bot], 'other'), [said('\u2068'), bot]);
  });

  it('are not part of the name that help does not know', () => {
    const known = [{ name: 'ping', aliases: [], usage: '/ping', summary: 's', who: 'anyone', slot: 'ping' }] as never;
    assert.match(helpList(known), /ping/);
    assert.match(unknownCommand(known, '\uff0fpimg\u200e') ?? '', /There is no command \/pimg\. Did you mean \/ping\?/);
  });
});

describe('a bot', () => {
  it('answers a command, a question, its end and a number of a menu with marks at their edges', async () => {
    const plugin = definePlugin({
      name: 'x',
      setup(p) {
        const order = p.dialog('order', { answers: { size: t.enum(['small', 'large']) } }, (_ctx, { size }) => size);
        const pick = p.action('pick', { data: {} }, () => 'picked');
        p.command('order', { summary: 's' }, (ctx) => ctx.ask(order));
        p.command('pick', { summary: 's' }, () => ({ text: 'which', buttons: [pick.button('a', {})] }));
      },
    });
    const bot = await startBot(plugin, { can: { buttons: 0 } });
    const ann = bot.person('ann');

    await ann.says('/order\u200e');
    await ann.says('\u200elarge\u200e');
    await ann.says('\u200b/order');
    await ann.says('\uff0fcancel\u200b');
    await ann.says('\uff0fpick');
    await ann.says('1\u200e');

    const shown = bot.shown('dm-ann');
    assert.deepEqual(
      ['large', 'Cancelled.', 'picked'].map((text) => shown.includes(text)),
      [true, true, true],
      shown.join('\n'),
    );
    assert.deepEqual(bot.dead(), []);
    await bot.stop();
  });
});
