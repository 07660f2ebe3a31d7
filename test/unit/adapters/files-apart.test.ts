// Which files of a post go with its text, and which in calls of their own, where a platform takes several.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apart as ofOnebot } from '../../../worker/adapters/onebot11/send.ts';
import { apart as ofTelegram } from '../../../worker/adapters/telegram/albums.ts';
import { apart as ofXmpp } from '../../../worker/adapters/xmpp/send.ts';
import type { FileRef, FilesApart } from '../../../worker/sdk/index.ts';

const file = (name: string, bytes = 3): FileRef => {
  const mime = name.endsWith('.png') ? 'image/png' : 'text/plain';
  return { id: name, name, mime, bytes };
};
const names = ({ withText, behind }: FilesApart) => [withText, ...behind].map((some) => some.map(({ name }) => name));

describe('files of a post in calls of their own', () => {
  const [a, b, c] = [file('a.txt'), file('b.png'), file('c.png')];

  it('are at Telegram all but one with a short text, in albums of one kind and at most ten', () => {
    const many = Array.from({ length: 11 }, (_, i) => file(`${i}.png`));

    assert.deepEqual(names(ofTelegram('see', [a])), [['a.txt']]);
    assert.deepEqual(names(ofTelegram('x'.repeat(1_025), [a])), [[], ['a.txt']]);
    assert.deepEqual(names(ofTelegram('see', [a, b, c])), [[], ['b.png', 'c.png'], ['a.txt']]);
    assert.deepEqual(names(ofTelegram('', [a, b])), [['b.png'], ['a.txt']]);
    assert.deepEqual(names(ofTelegram('', [a, b, c])), [[], ['b.png', 'c.png'], ['a.txt']]);
    assert.deepEqual(
      names(ofTelegram('see', many)).map(({ length }) => length),
      [0, 10, 1],
    );
  });

  it('are with OneBot those that are no pictures, and pictures that are too many for one call', () => {
    assert.deepEqual(names(ofOnebot('see', [a, b, c])), [['b.png', 'c.png'], ['a.txt']]);
    assert.deepEqual(names(ofOnebot('see', [a])), [[], ['a.txt']]);
    assert.deepEqual(names(ofOnebot('', [a])), [['a.txt']]);
    assert.deepEqual(names(ofOnebot('see', [file('1.png', 20_000_000), file('2.png', 20_000_000)])), [
      ['1.png'],
      ['2.png'],
    ]);
  });

  it('are with XMPP all of them, each by itself', () => {
    assert.deepEqual(names(ofXmpp('see', [a, b])), [[], ['a.txt'], ['b.png']]);
    assert.deepEqual(names(ofXmpp(' ', [a, b])), [['a.txt'], ['b.png']]);
  });
});
