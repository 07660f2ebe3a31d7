// Edits of what the adapter telegram has sent: of a text, of a caption, and of buttons alone.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { adapterLink } from '../../support/accounts/adapter-link.ts';
import { telegramAdapter as adapter, telegramBench as bench } from '../../support/accounts/telegram-bench.ts';

const BUTTONS = [
  { label: 'Yes', token: 'a' },
  { label: 'No', token: 'b' },
];
const PICTURE = { id: 'a'.repeat(64), name: 'a.png', mime: 'image/png', bytes: 3 };

describe('telegram: edits', () => {
  it('to buttons without a text show their labels, as a post does', async (t) => {
    const { telegram, send } = await bench(t);
    await send({ kind: 'post', text: 'wait' });

    const edited = await send({ kind: 'edit', message: '1', buttons: BUTTONS });

    assert.deepEqual(edited, { kind: 'sent', message: '1' });
    assert.deepEqual(
      telegram.messages(5).map(({ text, buttons }) => [text, buttons.length]),
      [['Yes · No', 2]],
    );
  });

  it('of a file change its caption, and leave it out where there are buttons alone', async (t) => {
    const { telegram, send, account } = await bench(t);
    const openFile = async () => ({ bytes: 3, content: () => Readable.from([Buffer.from('png')]) });
    const link = { ...adapterLink(account), openFile };
    const post = { kind: 'post', key: 'k', conversation: '5', text: 'see', buttons: [], files: [PICTURE] } as const;
    await adapter.send(post, link);
    const caption = () => telegram.messages(5).map(({ text, buttons }) => [text, buttons.length]);

    const first = await send({ kind: 'edit', message: '1', text: 'look' });
    const afterFirst = caption();
    const second = await send({ kind: 'edit', message: '1', buttons: BUTTONS });

    assert.deepEqual(
      [first, second],
      [
        { kind: 'sent', message: '1' },
        { kind: 'sent', message: '1' },
      ],
    );
    assert.deepEqual([afterFirst, caption()], [[['look', 0]], [['', 2]]]);
  });
});
