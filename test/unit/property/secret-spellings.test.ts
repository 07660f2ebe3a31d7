// A secret is masked however it is spelled: in each spelling, in any mixture of escapes, between any texts; and nothing else is.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { ofRun } from '../../support/run-length.ts';

const MASK = '[secret]';
const RUNS = ofRun({ short: 40, long: 100 });

/** Of what secrets hold: letters, quotes, slashes, blanks, and what takes two to four bytes. */
const secrets = fc
  .array(
    fc.oneof(
      fc.constantFrom(...Array.from('abzAZ09+/=-_ "\'\\%&<:@~$')),
      fc.constantFrom('ö', 'ß', 'é', '漢', '\u{1f600}'),
    ),
    {
      minLength: 10,
      maxLength: 40,
    },
  )
  .map((parts) => `k${parts.join('')}Q`);
/** Words that no spelling of a secret takes in, nor goes on with. */
const surroundings = fc
  .array(fc.constantFrom('the ', 'said: ', '(log) ', '\t', '; ', 'grüße ', '50 % of it ', 'R&D '), {
    maxLength: 5,
  })
  .map((parts) => parts.join(''));

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)];
const hex = (text: string): string => Buffer.from(text).toString('hex');
const byte = (number: number): string => number.toString(16).padStart(2, '0');
const units = (text: string): readonly number[] => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
const unit = (number: number): string => number.toString(16).padStart(4, '0');
const json = (value: unknown): string => JSON.stringify(value);

/** Each gives a text that holds the secret and nothing else of it. */
const SPELLINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'as JSON': (secret) => json(secret).slice(1, -1),
  'as JSON in JSON': (secret) => json(json(secret).slice(1, -1)).slice(1, -1),
  'as JSON in JSON in JSON': (secret) => json(json(json(secret).slice(1, -1)).slice(1, -1)).slice(1, -1),
  'in hex': hex,
  'in upper-case hex': (secret) => hex(secret).toUpperCase(),
  'in hex of both cases': (secret) =>
    hex(secret).replaceAll(/./g, (digit, at: number) => (at % 3 === 0 ? digit.toUpperCase() : digit)),
  'as \\u of every letter': (secret) =>
    units(secret)
      .map((code) => `\\u${unit(code)}`)
      .join(''),
  'as \\u of every letter, in upper case': (secret) =>
    units(secret)
      .map((code) => `\\u${unit(code).toUpperCase()}`)
      .join(''),
  'as \\u{} of every letter': (secret) =>
    Array.from(secret)
      .map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
      .join(''),
  'as \\x of every byte': (secret) =>
    bytesOf(secret)
      .map((one) => `\\x${byte(one)}`)
      .join(''),
  'as % of every byte': (secret) =>
    bytesOf(secret)
      .map((one) => `%${byte(one)}`)
      .join(''),
  'as % of every byte, in upper case': (secret) =>
    bytesOf(secret)
      .map((one) => `%${byte(one).toUpperCase()}`)
      .join(''),
  'URL-encoded': encodeURIComponent,
  'URL-encoded in lower case': (secret) => encodeURIComponent(secret).replaceAll(/%../g, (one) => one.toLowerCase()),
  'URL-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'URL-encoded three times': (secret) => encodeURIComponent(encodeURIComponent(encodeURIComponent(secret))),
  'as a form': (secret) => new URLSearchParams([['', secret]]).toString().slice(1),
  'URL-encoded, in JSON': (secret) => json(encodeURIComponent(secret).replaceAll('%', '\\u0025')).slice(1, -1),
  'as HTML': (secret) =>
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  'as decimal entities': (secret) =>
    Array.from(secret)
      .map((one) => `&#${one.codePointAt(0)};`)
      .join(''),
  'as hex entities': (secret) =>
    Array.from(secret)
      .map((one) => `&#x${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()};`)
      .join(''),
  'as a Buffer in JSON': (secret) => json(Buffer.from(secret)).slice('{"type":"Buffer","data":['.length, -2),
  'as a Buffer in JSON in JSON': (secret) =>
    json(json(Buffer.from(secret))).slice('"{\\"type\\":\\"Buffer\\",\\"data\\":['.length, -3),
};

const registryOf = (...values: readonly string[]): SecretRegistry => {
  const registry = new SecretRegistry();
  registry.add(values);
  return registry;
};

const inside = (name: string, text: string): string => (name.includes('Buffer') ? `[${text}]` : text);

describe('a secret', () => {
  for (const [name, spell] of Object.entries(SPELLINGS))
    it(`is masked ${name}, and what stands around it is not (REDACTION-1)`, () => {
      fc.assert(
        fc.property(secrets, surroundings, surroundings, (secret, before, after) => {
          const text = `${before}${inside(name, spell(secret))}${after}`;
          const registry = registryOf(secret);

          const wanted = `${before}${inside(name, MASK)}${after}`;
          assert.equal(registry.mask(text), wanted);
          const covered = registry.cover(text);
          assert.equal(covered, `${before}${inside(name, '*'.repeat(spell(secret).length))}${after}`);
        }),
        { numRuns: RUNS },
      );
    });

  it('is masked in any mixture of escapes, letter by letter (REDACTION-1)', () => {
    const escapes: readonly ((one: string) => string)[] = [
      (one) => one,
      (one) => json(one).slice(1, -1),
      (one) =>
        bytesOf(one)
          .map((code) => `%${byte(code)}`)
          .join(''),
      (one) =>
        units(one)
          .map((code) => `\\u${unit(code)}`)
          .join(''),
      (one) => `&#${one.codePointAt(0)};`,
      (one) =>
        encodeURIComponent(
          bytesOf(one)
            .map((code) => `%${byte(code)}`)
            .join(''),
        ),
    ];
    fc.assert(
      fc.property(secrets, fc.array(fc.nat(escapes.length - 1), { minLength: 42, maxLength: 42 }), (secret, choice) => {
        // A secret with signs that begin an escape reads differently where its neighbours are escaped: there it is no spelling of it.
        fc.pre(!/[\\%&]/.test(secret));
        const spelled = Array.from(secret)
          .map((one, at) => escapes[choice[at] ?? 0]?.(one) ?? one)
          .join('');

        assert.equal(registryOf(secret).mask(`the ${spelled} said`), `the ${MASK} said`);
      }),
      { numRuns: RUNS },
    );
  });

  it('is masked in base64 and base64url at each of the three alignments (REDACTION-1)', () => {
    fc.assert(
      fc.property(
        secrets,
        fc.string({ unit: 'binary', maxLength: 7 }),
        fc.string({ unit: 'binary', maxLength: 7 }),
        (secret, before, after) => {
          const whole = Buffer.from(`${before}${secret}${after}`);
          const from = Math.ceil((Buffer.byteLength(before) * 8) / 6);
          const to = Math.floor(((Buffer.byteLength(before) + Buffer.byteLength(secret)) * 8) / 6);
          const texts = [whole.toString('base64'), whole.toString('base64url')];
          const registry = registryOf(secret);

          for (const text of [...texts, ...texts.map(encodeURIComponent)])
            for (const inner of texts.map((one) => one.slice(from, to)))
              for (const form of [inner, encodeURIComponent(inner)])
                assert.equal(registry.mask(`x ${text} y`).includes(form), false);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('is masked where Node inspects its bytes, cut off or over several lines (REDACTION-1)', () => {
    fc.assert(
      fc.property(secrets, fc.boolean(), (secret, inJson) => {
        for (const value of [
          Buffer.from(secret),
          new Uint8Array(Buffer.from(secret)),
          { deep: [...Buffer.from(secret)] },
        ]) {
          const shown = inspect(value);
          const masked = registryOf(secret).mask(inJson ? json({ msg: shown }) : shown);

          assert.match(masked, /\[secret\]/);
          assert.doesNotMatch(masked, /\d\d(,\s*|\\n| )+\d\d/);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves a line of JSON a line of JSON, with its other values as they were', () => {
    fc.assert(
      fc.property(secrets, fc.string(), fc.constantFrom(...Object.keys(SPELLINGS)), (secret, other, name) => {
        const text = SPELLINGS[name]?.(secret) ?? '';
        const line = json({ other, text: `\n${text}`, list: [text] });

        const parsed = JSON.parse(registryOf(secret).mask(line));
        assert.equal(json(parsed).includes(text), false);
        if (!other.includes('://')) assert.equal(parsed.other, other);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a text without a secret', () => {
  const escaped = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(
          '\\n',
          '%41',
          '%2541',
          '&amp;',
          '\\u0041',
          '[1, 2, 3]',
          '<Buffer 61>',
          'https://a.example:80/@b',
        ),
      ),
    )
    .map((parts) => parts.join(' '));

  it('stays as it is', () => {
    fc.assert(
      fc.property(fc.array(fc.uuid(), { minLength: 1, maxLength: 4 }), escaped, (values, text) => {
        fc.pre(!/:\/\/[^\s/]*:[^\s/]+@/.test(text));

        assert.equal(registryOf(...values).mask(text), text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the password of a URL', () => {
  it('is masked though nobody has said that it is a secret (REDACTION-1)', () => {
    const parts = fc
      .array(fc.constantFrom(...Array.from('abz09-._~!$&()*+,;=:%')), { minLength: 1, maxLength: 20 })
      .map((all) => all.join(''));
    const names = fc.array(fc.constantFrom(...Array.from('abz09-._~')), { maxLength: 10 }).map((all) => all.join(''));
    fc.assert(
      fc.property(fc.constantFrom('https', 'postgres', 'irc+tls', 'REDIS'), names, parts, (scheme, user, password) => {
        const url = `${scheme}://${user}:${password}@host.example:8080/path`;
        const masked = `${scheme}://${user}:${MASK}@host.example:8080/path`;
        const registry = new SecretRegistry();

        assert.equal(registry.mask(`to ${url}, then`), `to ${masked}, then`);
        assert.equal(registry.mask(json({ url })), json({ url: masked }));
      }),
      { numRuns: RUNS },
    );
  });

  it('is nothing that a URL without one has', () => {
    for (const url of [
      'https://host.example:8080/a@b',
      'https://user@host.example/',
      'http://[::1]:80/',
      'a://b c:d@e',
      'mailto:a:b@c',
    ])
      assert.equal(new SecretRegistry().mask(url), url);
  });
});
