// Schemas: what fits, what is converted, and what a fault says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse, t } from 'svc';
import { Type } from 'typebox';
import { type Checked, check } from '../../../worker/sdk/schema/check.ts';
import { isSecret } from '../../../worker/sdk/secret.ts';
import { fromWord, readArguments } from '../../../worker/sdk/text/chat-line.ts';
import { describedArguments, usage } from '../../../worker/sdk/text/command-usage.ts';
import { readDuration, showDuration } from '../../../worker/sdk/text/duration.ts';

const valueOf = (checked: Checked): unknown => (checked.ok ? checked.value : assert.fail(checked.faults.join('; ')));
const faultsOf = (checked: Checked): readonly string[] => (checked.ok ? assert.fail('it fits') : checked.faults);

describe('check', () => {
  it('fills in defaults and converts durations, secrets and references (SDK-SCHEMA-1)', () => {
    const schema = t.object({
      days: t.integer({ default: 3 }),
      wait: t.duration(),
      token: t.secret(),
      to: t.conversation(),
      note: t.optional(t.string()),
    });

    const value = valueOf(
      check(schema, { wait: '1h30m', token: 'abc', to: { endpoint: 'e', id: 'c', name: 'dropped' } }),
    ) as Record<string, unknown>;

    assert.deepEqual(
      { ...value, token: null },
      { days: 3, wait: 5_400_000, token: null, to: { endpoint: 'e', id: 'c' } },
    );
    assert.ok(isSecret(value['token']) && value['token'].reveal() === 'abc');
    assert.equal(JSON.stringify(value['token']), '"[secret]"');
  });

  it('refuses unnamed keys, and drops them from foreign payloads (SDK-SCHEMA-2)', () => {
    const schema = t.object({ a: t.object({ b: t.integer() }) });

    assert.deepEqual(faultsOf(check(schema, { a: { b: 1, c: 2 } })), ['a/c: unknown, expected one of b']);
    assert.deepEqual(parse(schema, { a: { b: 1, c: 2 }, d: 3 }), { a: { b: 1 } });
  });

  it('refuses what JSON would keep nothing of, by its name and place, and takes the rest as JSON does (SDK-SCHEMA-4)', () => {
    const schema = t.object({ any: t.object({}), list: t.array(t.record(t.integer())), n: t.optional(t.number()) });
    const of = (any: unknown, item: unknown = {}): Checked => check(schema, { any, list: [{}, item] });

    assert.deepEqual(
      [new Map([['a', 1]]), new Set([1]), Promise.resolve(1), new Error('no')].map((any) => faultsOf(of(any))),
      ['Map', 'Set', 'Promise', 'Error'].map((name) => [
        `any: expected plain data, got a ${name}, which JSON cannot hold`,
      ]),
    );
    assert.deepEqual(faultsOf(of({}, new Map())), ['list/1: expected plain data, got a Map, which JSON cannot hold']);
    assert.match(faultsOf(of(new Date(0))).join(), /^any: expected an object, got "?1970-01-01T00:00:00.000Z"?$/);
    assert.equal(valueOf(check({}, new Date(0))), '1970-01-01T00:00:00.000Z');
    assert.deepEqual(valueOf(of(Object.create(null))), { any: {}, list: [{}, {}] });
  });

  it('names path and expectation of all faults, never a secret (SDK-SCHEMA-3)', () => {
    const schema = t.object({
      days: t.integer({ minimum: 1 }),
      size: t.enum(['s', 'm']),
      token: t.secret(),
      list: t.array(t.string(), { minItems: 2 }),
      who: t.user(),
      gone: t.string(),
      wait: t.duration(),
    });

    assert.deepEqual(
      faultsOf(
        check(schema, { days: 0, size: 'x', token: 12_345, list: ['a', 1], who: { id: 'u' }, wait: 'soon' }),
      ).toSorted(),
      [
        'days: expected at least 1, got 0',
        'gone: missing',
        'list/1: expected text, got 1',
        'size: expected one of s, m, got "x"',
        'token: expected a secret',
        'wait: expected a duration like 10m or 1h30m, got "soon"',
        'who: expected a user {endpoint, id}, in chat a mention, got an object',
      ],
    );
  });

  it('takes schemas that TypeBox made', () => {
    const schema = Type.Object({
      n: Type.Integer({ minimum: 2 }),
      who: Type.Optional(Type.String()),
      map: Type.Record(Type.String(), Type.Integer()),
    });

    assert.deepEqual(valueOf(check(schema, { n: 2, map: { a: 1 } })), { n: 2, map: { a: 1 } });
    assert.deepEqual(faultsOf(check(schema, { n: 1, map: { a: 'x' } })), [
      'n: expected at least 2, got 1',
      'map/a: expected a whole number, got "x"',
    ]);
  });

  it('is not led astray by names of Object.prototype', () => {
    const schema = t.object({ a: t.optional(t.integer()) });

    assert.deepEqual(faultsOf(check(schema, JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'))).length, 2);
    assert.deepEqual(
      valueOf(check(t.record(t.integer()), JSON.parse('{"__proto__": 1}'))),
      JSON.parse('{"__proto__": 1}'),
    );
  });

  it('takes a message of ours or of the platform, nothing between', () => {
    const schema = t.object({ at: t.message() });

    for (const at of [{ sent: 'k' }, { endpoint: 'e', conversation: 'c', id: 'm' }])
      assert.deepEqual(valueOf(check(schema, { at })), { at });
    assert.deepEqual(faultsOf(check(schema, { at: { id: 'm' } })), [
      'at: expected a message {endpoint, conversation, id}, got an object',
    ]);
  });

  it('throws a coded error from parse', () => {
    assert.throws(() => parse(t.object({ n: t.integer() }), { n: 'x' }), {
      code: 'schema_mismatch',
      message: 'n: expected a whole number, got "x"',
    });
  });
});

describe('readArguments', () => {
  const properties = { in: t.duration(), loud: t.boolean({ default: false }), text: t.rest() };

  it('reads by position, by name, and the rest of the line as typed', () => {
    assert.deepEqual(valueOf(readArguments(properties, '10m drink  "some" tea')), {
      in: 600_000,
      loud: false,
      text: 'drink  "some" tea',
    });
    assert.deepEqual(valueOf(readArguments(properties, '--loud --in 10m tea')), {
      in: 600_000,
      loud: true,
      text: 'tea',
    });
  });

  it('reads quoted words, and all that are left into a list', () => {
    const poll = { question: t.string(), options: t.array(t.string(), { minItems: 2 }) };

    assert.deepEqual(valueOf(readArguments(poll, '"Lunch today?" pizza "no sushi"')), {
      question: 'Lunch today?',
      options: ['pizza', 'no sushi'],
    });
    assert.deepEqual(faultsOf(readArguments({ n: t.integer() }, '1 2 3')), ['too many words: 2 3']);
    assert.deepEqual(faultsOf(readArguments({ n: t.integer() }, '--constructor')), [
      'n: expected a whole number, got "--constructor"',
    ]);
  });

  it('reads lists of up to 1,000 words, and any number as the rest of a line', () => {
    const list = { of: t.array(t.integer()), loud: t.boolean({ default: false }) };
    const line = (words: number): string => '7 '.repeat(words).trimEnd();
    const lengthOf = (read: ReturnType<typeof readArguments>) => (valueOf(read) as { of: unknown[] }).of.length;

    assert.equal(lengthOf(readArguments(list, line(1_000))), 1_000);
    for (const long of [line(1_001), `--loud ${line(1_000)}`, line(500_000)])
      assert.match(String(faultsOf(readArguments(list, long))), /^too many words: 7/);
    assert.deepEqual(faultsOf(readArguments(list, `--of "${line(1_001)}"`)), ['of: expected a list']);
    assert.deepEqual(valueOf(readArguments({ text: t.rest() }, line(500_000))), { text: line(500_000) });
  });

  it('reads what the keyboard of a telephone makes of quotes and two dashes', () => {
    const poll = { question: t.string(), options: t.array(t.string()), open: t.optional(t.boolean()) };

    assert.deepEqual(valueOf(readArguments(poll, '“Lunch today?” „no sushi“ pizza —open — —other')), {
      question: 'Lunch today?',
      options: ['no sushi', 'pizza', '—', '—other'],
      open: true,
    });
    assert.deepEqual(valueOf(readArguments({ text: t.rest() }, '“as” typed —so')), { text: '“as” typed —so' });
  });

  it('reads words as their schema wants them, whatever their case', () => {
    assert.deepEqual(
      [
        fromWord(t.enum(['Large']), 'large'),
        fromWord(t.boolean(), 'YES'),
        fromWord(t.integer(), '-3'),
        fromWord(t.integer(), '3x'),
      ],
      ['Large', true, -3, '3x'],
    );
  });

  it('takes options out of the rest of the line, wherever they stand', () => {
    const later = { text: t.rest(), in: t.option(t.duration()), loud: t.boolean({ default: false }) };
    const read = (line: string): unknown => valueOf(readArguments(later, line));
    const tea = { in: 600_000, loud: false, text: 'call  mum' };

    for (const line of ['--in 10m call  mum', 'call  mum --in 10m', 'call  --in 10m mum', 'call  mum —in=10m'])
      assert.deepEqual(read(line), tea);
    assert.deepEqual(read('--loud call mum --in=10m\nor write'), {
      in: 600_000,
      loud: true,
      text: 'call mum or write',
    });
    assert.deepEqual(read('a --loud=no'), { loud: false, text: 'a' });
    assert.deepEqual(read('a\n--loud\nb'), { loud: true, text: 'a\nb' });
    assert.deepEqual(read('10m call mum'), { loud: false, text: '10m call mum' });
    assert.deepEqual(faultsOf(readArguments(later, 'call mum --in')), [
      'in: expected a duration like 10m or 1h30m, got ""',
    ]);
  });

  it('leaves in the text what is no option: other words, quoted words, what stands behind --', () => {
    const later = { text: t.rest(), in: t.option(t.duration()) };
    const read = (line: string): unknown => valueOf(readArguments(later, line));

    for (const text of ['what does --text do', 'tea -- strong', 'a "--in" 10m', '--out 10m', 'a --in-b 1'])
      assert.deepEqual(read(text), { text });
    assert.deepEqual(read('write -- --in 10m'), { text: 'write --in 10m' });
    assert.deepEqual(read('--in 10m -- --in 5m -- x'), { in: 600_000, text: '--in 5m -- x' });
  });

  it('fills no place with a word that is for options', () => {
    const order = { size: t.string(), note: t.option(t.string()), many: t.array(t.string()) };

    assert.deepEqual(valueOf(readArguments(order, 'large --note "no ice" a b')), {
      size: 'large',
      note: 'no ice',
      many: ['a', 'b'],
    });
  });

  it('writes options into the usage as options', () => {
    const more = {
      text: t.rest({ title: 'What to say' }),
      in: t.option(t.duration({ description: 'How long from now' })),
      to: t.user(),
      size: t.option(t.enum(['small', 'large'])),
      n: t.optional(t.option(t.integer())),
    };

    assert.equal(usage('x', { text: more.text, in: more.in }), '/x [--in <duration>] <text…>');
    assert.equal(usage('x', more), '/x [--in <duration>] --to <user> [--size <small|large>] [--n <number>] <text…>');
    assert.deepEqual(describedArguments(more), [
      { usage: '--in <duration>', description: 'How long from now' },
      { usage: 'text…', description: 'What to say' },
    ]);
  });

  it('writes the usage', () => {
    assert.equal(usage('remind', properties), '/remind <in> [--loud] <text…>');
    assert.equal(
      usage('order', { size: t.optional(t.enum(['small', 'large'])), rest: t.array(t.string()) }),
      '/order [small|large] <rest…>',
    );
  });
});

describe('durations', () => {
  it('are read and shown in the same words', () => {
    for (const text of ['10m', '1h30m', '2d', '1d1h1m1s']) assert.equal(showDuration(readDuration(text) ?? -1), text);
    assert.equal(showDuration(999), '0s');
  });

  it('are nothing else', () => {
    for (const text of ['', '10', 'm', '1.5h', '10 m', '1w', '-1m', `${'9'.repeat(12)}d`])
      assert.equal(readDuration(text), undefined, text);
  });
});
