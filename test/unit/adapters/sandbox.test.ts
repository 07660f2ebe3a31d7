import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Place, sandboxArrival, sandboxPress } from '../../../worker/adapters/sandbox/arrival.ts';
import { chatView, type InboundRow, type OutboundRow } from '../../../worker/adapters/sandbox/chat-view.ts';
import type { Outgoing } from '../../../worker/sdk/index.ts';

const ann: Place = { person: 'ann', room: undefined };
const said = (n: number, text: string, place: Place = ann): InboundRow => ({
  n,
  at: n,
  arrival: sandboxArrival({ ...place, text, delivery: `d${n}`, sentAt: n }),
});
const post = (
  n: number,
  text: string,
  more: Partial<Extract<Outgoing, { kind: 'post' | 'edit' }>> = {},
): OutboundRow => ({
  n,
  at: n,
  call: { kind: 'post', key: `k${n}`, conversation: 'dm-ann', text, buttons: [], files: [], ...more },
});
const call = (n: number, outgoing: Outgoing): OutboundRow => ({ n, at: n, call: outgoing });

describe('sandboxArrival', () => {
  it('is one delivery a person and delivery id, and private without a room', () => {
    assert.deepEqual(sandboxArrival({ ...ann, text: 'svc: hi', delivery: 'd', sentAt: 3 }), {
      id: 'ann:d',
      conversation: { id: 'dm-ann', kind: 'private' },
      user: { id: 'ann', name: 'ann', admin: true },
      sentAt: 3,
      kind: 'message',
      message: 'in-ann:d',
      text: 'hi',
      addressed: true,
    });
  });

  it('is spoken to in a room only by name', () => {
    const read = ['svc: hi', '@svc hi', 'hi', 'svc hi'].map((text) =>
      sandboxArrival({ person: 'ann', room: 'r', text, delivery: 'd', sentAt: 0 }),
    );

    assert.deepEqual(
      read.map((arrival) => arrival.kind === 'message' && [arrival.text, arrival.addressed]),
      [
        ['hi', true],
        ['hi', true],
        ['hi', false],
        ['svc hi', false],
      ],
    );
    assert.deepEqual(read[0]?.conversation, { id: 'room-r', kind: 'group', name: 'r' });
  });

  it('never gives a room and a person one conversation', () => {
    assert.notEqual(
      sandboxArrival({ person: 'x', room: 'dm-ann', text: '', delivery: 'd', sentAt: 0 }).conversation.id,
      'dm-ann',
    );
  });

  it('presses a button of a message', () => {
    const arrival = sandboxPress({ ...ann, message: 'sandbox-k', token: 't', delivery: 'd', sentAt: 1 });

    assert.deepEqual(
      [arrival.kind, arrival.id, arrival.kind === 'pressed' && [arrival.message, arrival.token]],
      ['pressed', 'ann:d', ['sandbox-k', 't']],
    );
  });
});

describe('chatView', () => {
  it('shows lines and answers in the order in which they became visible', () => {
    const view = chatView([said(1, 'hello'), said(3, 'and?')], [post(2, 'hi'), post(4, 'yes')], ann);

    assert.deepEqual(
      view.map(({ from, text }) => [from, text]),
      [
        ['ann', 'hello'],
        ['svc', 'hi'],
        ['ann', 'and?'],
        ['svc', 'yes'],
      ],
    );
    assert.equal(view[0]?.at, '1970-01-01T00:00:00.001Z');
  });

  it('applies edits, removals and reactions in place, and counts them as changes (CHAT-VIEW-1, CHAT-VIEW-2)', () => {
    const rows = [
      post(1, 'one', { buttons: [{ label: 'A', token: 'a' }] }),
      post(2, 'two'),
      call(3, {
        kind: 'edit',
        key: 'e',
        conversation: 'dm-ann',
        message: 'sandbox-k1',
        text: 'uno',
        buttons: [{ label: 'B', token: 'b' }],
        files: [],
      }),
      call(4, { kind: 'remove', key: 'r', conversation: 'dm-ann', message: 'sandbox-k2' }),
      call(5, { kind: 'react', key: 'x', conversation: 'dm-ann', message: 'sandbox-k1', emoji: '👍', on: true }),
      call(6, { kind: 'react', key: 'y', conversation: 'dm-ann', message: 'sandbox-k1', emoji: '🎉', on: true }),
      call(7, { kind: 'react', key: 'z', conversation: 'dm-ann', message: 'sandbox-k1', emoji: '👍', on: false }),
      call(8, { kind: 'remove', key: 'q', conversation: 'dm-ann', message: 'sandbox-gone' }),
    ];

    const view = chatView([], rows, ann);

    assert.deepEqual(
      view.map(({ n, id, text, buttons, removed, reactions }) => [n, id, text, buttons.length, removed, reactions]),
      [
        [7, 'sandbox-k1', 'uno', 1, false, ['🎉']],
        [4, 'sandbox-k2', '', 0, true, []],
      ],
    );
  });

  it("shows neither other conversations nor what is for another person's eyes (CHAT-VIEW-3)", () => {
    const room = { person: 'ann', room: 'r' };
    const inRoom = (n: number, text: string, only?: string): OutboundRow =>
      post(n, text, { conversation: 'room-r', ...(only === undefined ? {} : { only }) });

    const view = chatView(
      [said(1, 'private'), said(2, 'in room', { person: 'bob', room: 'r' })],
      [inRoom(3, 'all'), inRoom(4, 'bob alone', 'bob'), inRoom(5, 'ann alone', 'ann')],
      room,
    );

    assert.deepEqual(
      view.map(({ text }) => text),
      ['in room', 'all', 'ann alone'],
    );
  });
});
