// Who handles a line: order, at most one claimant, what a typed command and a phrase mean.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Capabilities } from '../../../worker/handling/plan/capabilities.ts';
import { argumentsOf, readCommand } from '../../../worker/handling/plan/command-line.ts';
import { ANSWER_ACTION, route, type Stored } from '../../../worker/handling/plan/routing.ts';
import { type Arrival, t } from '../../../worker/sdk/index.ts';

const NOTHING: Stored = { dialog: undefined, pressed: undefined };
const line = (text: string, more: object = {}): Arrival => ({
  id: 'd',
  conversation: { id: 'c', kind: 'group' },
  user: { id: 'u', name: 'u', admin: false },
  sentAt: 0,
  kind: 'message',
  message: 'm',
  text,
  ...more,
});

function plugins(): Capabilities {
  const capabilities = new Capabilities();
  const run = (): void => {};
  const add = (kind: string, name: string, spec: object) =>
    capabilities.add({ kind, name, spec, run, slot: 'bot', uses: [] } as never);
  add('on', 'after', { on: 'message', order: 'after' });
  add('on', 'normal', { on: 'message' });
  add('on', 'before', { on: 'message', order: 'before' });
  add('on', 'private', { on: 'message', where: 'private' });
  add('on', 'pattern', { on: 'message', text: /^price of (?<item>\w+)$/g });
  add('on', 'edited', { on: 'edited' });
  add('command', 'remind', {
    summary: 's',
    aliases: ['r'],
    phrases: ['remind me in {in} to {text}'],
    args: { in: t.duration(), text: t.rest() },
  });
  add('action', 'vote', { data: {} });
  add('dialog', 'order', { answers: {} });
  return capabilities;
}
const names = (arrival: Arrival, stored: Stored = NOTHING): string[] =>
  route(arrival, stored, { endpoint: 'e', capabilities: plugins(), prefix: '/' }).map((step) =>
    step.kind === 'gone' ? `gone ${step.id}` : step.capability.name,
  );
const dialog = { capability: 'root/bot#dialog/order', data: {}, skipped: [], asked: 'x', expiresAt: 1 };

describe('routing', () => {
  it('asks before, normal and after listeners in that order when nobody claims', () => {
    assert.deepEqual(names(line('hello')), ['before', 'normal', 'after']);
    assert.deepEqual(names(line('hello', { conversation: { id: 'c', kind: 'private' } })), [
      'before',
      'normal',
      'private',
      'after',
    ]);
    assert.deepEqual(names(line('hello', { kind: 'edited' })), ['edited']);
  });

  it('gives a line to one claimant after the before listeners: button, command, dialog', () => {
    const pressed = { action: 'root/bot#action/vote', data: 1 };
    assert.deepEqual(names(line('/remind 10m tea')), ['before', 'remind']);
    assert.deepEqual(names(line('2'), { dialog, pressed }), ['before', 'vote']);
    assert.deepEqual(names(line('large'), { dialog, pressed: undefined }), ['before', 'order']);
    assert.deepEqual(names(line('/remind 10m tea'), { dialog, pressed: undefined }), ['before', 'remind']);
    assert.deepEqual(names(line('/cancel'), { dialog, pressed: undefined }), ['before', 'order']);
  });

  it('takes a command of a platform with its arguments, or with the line that was typed behind its name', () => {
    const typed = (more: object) =>
      route({ ...line(''), kind: 'command', name: 'r', args: {}, ...more } as never, NOTHING, {
        endpoint: 'e',
        capabilities: plugins(),
        prefix: '!',
      }).map((step) => (step.kind === 'command' ? step.typed : step.kind));

    assert.deepEqual(typed({ args: { in: 1 } }), [{ kind: 'values', values: { in: 1 }, endpoint: 'e' }]);
    assert.deepEqual(typed({ line: '10m tea' }), [{ kind: 'line', line: '10m tea' }]);
  });

  it('names the endpoint of a person who is mentioned, where the adapter could not', () => {
    const mentioned = (endpoint: string) => ({ kind: 'mention', user: { endpoint, id: 'ann' } });
    const [step] = route(line('', { text: [mentioned(''), mentioned('other')] }), NOTHING, {
      endpoint: 'e',
      capabilities: plugins(),
      prefix: '/',
    });

    assert.deepEqual(step?.kind === 'listener' && (step.event as { readonly segments: unknown }).segments, [
      mentioned('e'),
      mentioned('other'),
    ]);
  });

  it('names a button whose action is gone instead of dropping it', () => {
    assert.deepEqual(names(line('1'), { dialog: undefined, pressed: { action: 'root/old#action/x', data: 1 } }), [
      'before',
      'gone root/old#action/x',
    ]);
  });

  it('takes a button of a question as the answer to it', () => {
    assert.deepEqual(names(line('1'), { dialog, pressed: { action: ANSWER_ACTION, data: 'large' } }), [
      'before',
      'order',
    ]);
  });

  it('gives the groups of a pattern, however often it is asked', () => {
    for (let n = 0; n < 3; n += 1) {
      const step = route(line('price of tea'), NOTHING, { endpoint: 'e', capabilities: plugins(), prefix: '/' }).find(
        (one) => one.kind === 'listener' && one.capability.name === 'pattern',
      );
      assert.deepEqual(step?.kind === 'listener' ? { ...step.groups } : undefined, { item: 'tea' });
    }
  });
});

describe('a command line', () => {
  const remind = plugins().ofKind('command')[0];
  assert.ok(remind);
  const read = (text: string, spokenTo = true, prefix = '/') => readCommand(remind, text, { prefix, spokenTo });

  it('is meant by name, alias and phrase, and by nothing else', () => {
    assert.deepEqual(
      [
        read('/remind x')?.kind,
        read('/r x')?.kind,
        read('Remind me in 10m to drink tea')?.kind,
        read('remind me in 10m to drink tea', false),
      ],
      ['line', 'line', 'words', undefined],
    );
    assert.deepEqual(
      [read('/reminder x'), read('remind x'), read('!remind x'), read('!remind x', true, '!')?.kind],
      [undefined, undefined, undefined, 'line'],
    );
  });

  it('is read in order or by name, or says what is wrong and how it is used', () => {
    const values = (text: string): unknown => {
      const typed = read(text);
      return typed && argumentsOf(remind, typed, { prefix: '/', language: 'en' });
    };
    assert.deepEqual(values('/remind 10m drink tea'), { ok: true, value: { in: 600_000, text: 'drink tea' } });
    assert.deepEqual(values('remind me in 1h30m to go'), { ok: true, value: { in: 5_400_000, text: 'go' } });
    const wrong = values('/remind soon tea') as { ok: boolean; text: string };
    assert.equal(wrong.ok, false);
    assert.match(wrong.text, /Usage: \/remind/);
  });
});
