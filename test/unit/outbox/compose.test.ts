// Degradation, piece by piece: what a platform lacks is made from what it has.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compose, MOST_PARTS, type SendPart, type StoredContent, type Where } from '../../../worker/outbox/compose.ts';
import type { Can, FileRef } from '../../../worker/sdk/index.ts';

const POOR: Can = { text: { limit: 400, unit: 'utf16', render: 'plain' } };
const GROUP: Where = { private: false };
const FILE = { id: 'f1', name: 'cat.png', mime: 'image/png', bytes: 2_000 };
const BUTTONS = [
  { label: 'yes', token: 't1' },
  { label: 'no', token: 't2' },
];
const content = (more: Partial<StoredContent> = {}): StoredContent => ({
  segments: [{ kind: 'text', text: 'hi' }],
  buttons: [],
  files: [],
  ...more,
});
const message = (more: object): object => ({ kind: 'post', text: 'hi', buttons: [], files: [], ...more });

describe('compose', () => {
  it('sends buttons where there are enough of them, else a numbered list with a menu (COMPOSE-1)', () => {
    const body = content({ buttons: BUTTONS });

    assert.deepEqual(compose(body, { ...POOR, buttons: 2 }, GROUP), [message({ buttons: BUTTONS })]);
    assert.deepEqual(compose(body, { ...POOR, buttons: 1 }, GROUP), [
      message({ text: 'hi\n1) yes\n2) no', menu: ['t1', 't2'] }),
    ]);
    assert.deepEqual(compose(content({ segments: [], buttons: BUTTONS }), POOR, GROUP), [
      message({ text: '1) yes\n2) no', menu: ['t1', 't2'] }),
    ]);
  });

  it('leaves no mark in labels and names that could show another text (COMPOSE-5)', () => {
    const hostile = 'Pay\u202e001\u2066\u200f\u061c\u200b\u{e0041}\n\u001b[2J\u009b\u2028 now';
    const buttons = [
      { label: hostile, token: 't1' },
      { label: '\u202e\u200b', token: 't2' },
      { label: 'family \u{1f468}\u200d\u{1f469} \u2764\ufe0f', token: 't3' },
    ];
    const labels = ['Pay001 [2J now', '…', 'family \u{1f468}\u200d\u{1f469} \u2764\ufe0f'];
    const [shown] = compose(content({ buttons }), { ...POOR, buttons: 3 }, GROUP) as readonly [SendPart];
    const [listed] = compose(content({ buttons }), POOR, GROUP) as readonly [SendPart];
    assert.deepEqual(
      shown.buttons.map(({ label }) => label),
      labels,
    );
    assert.equal(listed.text, ['hi', ...labels.map((label, index) => `${index + 1}) ${label}`)].join('\n'));

    const files = [{ ...FILE, name: 'photo\u202egpj.exe' }];
    const [attached] = compose(content({ files }), { ...POOR, files: { maxBytes: 3_000 } }, GROUP) as readonly [
      SendPart,
    ];
    const [linked] = compose(content({ files }), POOR, { ...GROUP, fileUrl: () => 'https://a.example' }) as readonly [
      SendPart,
    ];
    assert.equal(attached.files[0]?.name, 'photogpj.exe');
    assert.match(linked.text, /photogpj\.exe/);
    const only = { endpoint: 'e', id: 'u1' };
    const [said] = compose(content({ only }), POOR, { ...GROUP, onlyName: 'Ann\u202e' }) as readonly [SendPart];
    assert.equal(said.text, 'Ann: hi');
  });

  it('makes a new message of an edit (COMPOSE-1)', () => {
    assert.deepEqual(compose(content(), { ...POOR, edit: true }, { ...GROUP, kind: 'edit' }), [
      message({ kind: 'edit' }),
    ]);
    assert.deepEqual(compose(content(), POOR, { ...GROUP, kind: 'edit' }), [message({})]);
  });

  it('writes the name before the text instead of a reply, but not where two talk alone (COMPOSE-1)', () => {
    const replyTo = { endpoint: 'e', conversation: 'c', id: 'm1' };
    const body = content({ replyTo });

    assert.deepEqual(compose(body, { ...POOR, replies: true }, { ...GROUP, replyName: 'Ann' }), [message({ replyTo })]);
    assert.deepEqual(compose(body, POOR, { ...GROUP, replyName: 'Ann' }), [message({ text: 'Ann: hi' })]);
    assert.deepEqual(compose(body, POOR, { private: true, replyName: 'Ann' }), [message({})]);
  });

  it('leaves the thread for the channel (COMPOSE-1)', () => {
    const thread = { sent: 'k1' };

    assert.deepEqual(compose(content({ thread }), { ...POOR, threads: true }, GROUP), [message({ thread })]);
    assert.deepEqual(compose(content({ thread }), POOR, GROUP), [message({})]);
  });

  it('tells one person alone: by the platform, in private, else in the open with the name (COMPOSE-1)', () => {
    const only = { endpoint: 'e', id: 'u1' };
    const body = content({ only });

    assert.deepEqual(compose(body, { ...POOR, only: true }, GROUP), [message({ only })]);
    assert.deepEqual(compose(body, POOR, { ...GROUP, direct: 'dm-u1' }), [message({ conversation: 'dm-u1' })]);
    assert.deepEqual(compose(body, POOR, { ...GROUP, onlyName: 'Ann' }), [message({ text: 'Ann: hi' })]);
    assert.deepEqual(compose(body, POOR, { private: true }), [message({})]);
  });

  it('leaves reply and thread behind where it goes to another conversation (COMPOSE-1)', () => {
    const there = { endpoint: 'e', conversation: 'c', id: 'm1' };
    const body = content({ only: { endpoint: 'e', id: 'u1' }, replyTo: there, thread: there });
    const can = { ...POOR, replies: true, threads: true };

    assert.deepEqual(compose(body, can, { ...GROUP, direct: 'dm-u1' }), [message({ conversation: 'dm-u1' })]);
  });

  it('links what is no file there or too large, and refuses it where there is no link; the text goes out (COMPOSE-1)', () => {
    const body = content({ files: [FILE] });
    const fileUrl = (): string => 'https://e.org/f1';

    assert.deepEqual(compose(body, { ...POOR, files: { maxBytes: 2_000 } }, GROUP), [message({ files: [FILE] })]);
    assert.deepEqual(compose(body, POOR, { ...GROUP, fileUrl }), [message({ text: 'hi\ncat.png (https://e.org/f1)' })]);
    assert.deepEqual(compose(body, { ...POOR, files: { maxBytes: 1_999 } }, GROUP), [
      message({}),
      { kind: 'refused', reason: 'cat.png has 2000 bytes, the platform takes 1999' },
    ]);
    assert.deepEqual(compose(content({ segments: [], files: [FILE] }), POOR, GROUP), [
      { kind: 'refused', reason: 'the platform takes no files: cat.png' },
    ]);
  });

  it('attaches what the platform fetches by a link where there is one over https, and only the types that it takes', () => {
    const can: Can = { ...POOR, files: { maxBytes: 2_000, types: ['image/png'], byLink: true } };
    const body = content({ segments: [], files: [FILE, { ...FILE, name: 'a.pdf', mime: 'application/pdf' }] });
    const at = (origin: string): Where => ({ ...GROUP, fileUrl: ({ name }) => `${origin}/${name}` });

    const [fetched] = compose(body, can, at('https://h'));
    const [linked] = compose(body, can, at('http://h'));

    assert.deepEqual(fetched, message({ text: 'a.pdf (https://h/a.pdf)', files: [FILE] }));
    assert.deepEqual(linked, message({ text: 'cat.png (http://h/cat.png)\na.pdf (http://h/a.pdf)' }));
    assert.deepEqual(compose(body, can, GROUP), [
      { kind: 'refused', reason: 'the platform takes no files: cat.png' },
      { kind: 'refused', reason: 'the platform takes no files: a.pdf' },
    ]);
  });

  it('puts the reply on the first part, buttons and files on the last, and edits as many as there are (COMPOSE-2)', () => {
    const replyTo = { sent: 'k1' };
    const body = content({
      segments: [{ kind: 'text', text: `${'a'.repeat(9)}\n\n${'b'.repeat(9)}` }],
      buttons: BUTTONS,
      files: [FILE],
      replyTo,
    });
    const can: Can = {
      text: { limit: 12, unit: 'utf16', render: 'plain' },
      buttons: 5,
      edit: true,
      replies: true,
      files: { maxBytes: 9_999 },
    };

    assert.deepEqual(compose(body, can, { ...GROUP, kind: 'edit' }), [
      message({ kind: 'edit', text: 'aaaaaaaaa', replyTo }),
      message({ text: 'bbbbbbbbb', buttons: BUTTONS, files: [FILE], isMore: true }),
    ]);
    assert.deepEqual(compose(body, can, { ...GROUP, kind: 'edit', parts: 3 }), [
      message({ kind: 'edit', text: 'aaaaaaaaa', replyTo }),
      message({ kind: 'edit', text: 'bbbbbbbbb', buttons: BUTTONS, files: [FILE] }),
    ]);
  });

  it('puts files behind the text that the platform takes in calls of their own, the first in place of a text that is none (COMPOSE-2)', () => {
    const replyTo = { sent: 'k1' };
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ ...FILE, name }));
    const files = [a, b, c].flatMap((file) => file ?? []);
    const can: Can = {
      ...POOR,
      edit: true,
      buttons: 5,
      replies: true,
      files: {
        maxBytes: 9_999,
        apart: (text, given) =>
          text === ''
            ? { withText: given.slice(0, 1), behind: [given.slice(1)] }
            : { withText: [], behind: [given.slice(0, 2), given.slice(2)] },
      },
    };
    const behind = (some: readonly FileRef[]) => message({ text: '', files: some, isBehind: true });

    assert.deepEqual(compose(content({ files, buttons: BUTTONS, replyTo }), can, GROUP), [
      message({ buttons: BUTTONS, replyTo }),
      behind(files.slice(0, 2)),
      behind(files.slice(2)),
    ]);
    assert.deepEqual(compose(content({ segments: [], files }), can, GROUP), [
      message({ text: '', files: files.slice(0, 1) }),
      behind(files.slice(1)),
    ]);
    assert.deepEqual(compose(content({ files }), can, { ...GROUP, kind: 'edit' }), [message({ kind: 'edit', files })]);
    const asNewMessage = compose(content({ files }), { ...can, edit: false }, { ...GROUP, kind: 'edit' });
    assert.deepEqual(asNewMessage, [message({}), behind(files.slice(0, 2)), behind(files.slice(2))]);
  });

  it('begins with what holds the buttons where files without a text go in calls of their own, else with the files (COMPOSE-2)', () => {
    const apart = (_text: string, given: readonly FileRef[]) => ({
      withText: [],
      behind: [given.slice(0, 2), given.slice(2)],
    });
    const can: Can = { ...POOR, buttons: 2, replies: true, files: { maxBytes: 5_000, apart } };
    const files = [1, 2, 3].map((n) => ({ ...FILE, id: `f${n}` }));
    const replyTo = { endpoint: 'e', conversation: 'c', id: 'm1' };
    const of = (more: Partial<StoredContent>) =>
      compose(content({ segments: [], files, replyTo, ...more }), can, GROUP);
    const said = (more: object): object => message({ text: '', ...more });

    assert.deepEqual(of({ buttons: BUTTONS }), [
      said({ buttons: BUTTONS, replyTo }),
      said({ files: files.slice(0, 2), isBehind: true }),
      said({ files: files.slice(2), isBehind: true }),
    ]);
    assert.deepEqual(of({}), [
      said({ files: files.slice(0, 2), replyTo }),
      said({ files: files.slice(2), isBehind: true }),
    ]);
  });

  it('has a bounded number of parts: the end is cut, says so, and keeps links and lists (COMPOSE-4)', () => {
    const can: Can = { text: { limit: 30, unit: 'codepoints', render: 'plain' } };
    const text = Array.from({ length: 5_000 }, (_, n) => `word${n}`).join(' ');
    const parts = compose(content({ segments: [{ kind: 'text', text }], buttons: BUTTONS }), can, GROUP);
    const texts = parts.map((part) => (part.kind === 'refused' ? part.reason : part.text));

    assert.equal(parts.length, MOST_PARTS);
    assert.equal(texts[0], 'word0 word1 word2 word3 word4');
    assert.match(texts.slice(-3).join(' '), /… \(cut: this is too long to be shown here\)\s1\) yes\s2\) no$/);
    assert.deepEqual(
      parts.map((part) => part.kind !== 'refused' && part.isCut === true),
      [...Array<boolean>(MOST_PARTS - 1).fill(false), true],
    );
    for (const part of texts) assert.ok(part.length <= 30, part);
  });

  it('says why there is nothing to send', () => {
    assert.deepEqual(compose(content({ segments: [] }), POOR, GROUP), [
      { kind: 'refused', reason: 'the message is empty' },
    ]);
    assert.deepEqual(compose(content(), { text: { limit: 0, unit: 'bytes', render: 'plain' } }, GROUP), [
      { kind: 'refused', reason: 'nothing fits into 0 bytes' },
    ]);
  });

  it('cuts at a paragraph, else a line, else a word, else between code points (SPLIT-2)', () => {
    const texts = (text: string, limit: number): readonly string[] =>
      compose(
        content({ segments: [{ kind: 'text', text }] }),
        { text: { limit, unit: 'codepoints', render: 'plain' } },
        GROUP,
      ).map((part) => (part.kind === 'refused' ? part.reason : part.text));

    assert.deepEqual(texts('first\n\ntwo\nthree', 11), ['first', 'two\nthree']);
    assert.deepEqual(texts('one two\nthree', 11), ['one two', 'three']);
    assert.deepEqual(texts('one two three', 11), ['one two', 'three']);
    assert.deepEqual(texts('😀😀😀😀', 3), ['😀😀😀', '😀']);
  });
});
