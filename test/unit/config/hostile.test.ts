// Hostile files: each is refused with 78, with line and column (row 46 of the hostile inputs). Their cost is a figure of `npm run bench -- texts`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import { ERRORS } from '../../../shared/error-codes.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { faultsOf, GOOD_TOKEN, loadText } from '../../support/load-text.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const MIB = 1_048_576;
const GOOD = 'http:\n  token: ${HTTP_TOKEN}\n';
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x,x]',
  ...'bcdefghi'
    .split('')
    .map((key, index) => `${key}: &${key} [${Array(10).fill(`*${'abcdefghi'[index]}`).join(',')}]`),
].join('\n');

/** Name, text, and how the first fault's place and message begin. */
const CASES: readonly (readonly [string, string, RegExp])[] = [
  [
    'an alias bomb',
    `${GOOD}plugins:\n  x:\n${bomb.replaceAll(/^/gm, '    ')}\n`,
    /^6:\d+ .*expands more than 100 aliases/,
  ],
  ['an alias of itself', `plugins: &a\n  x: *a\n`, /^2:3 nests deeper than 64/],
  ['depth 5000 in brackets', `plugins: ${'['.repeat(5_000)}`, /^1:\d+ nests deeper than 64/],
  ['depth 5000 in dashes', `plugins:\n  ${'- '.repeat(5_000)}`, /^2:\d+ nests deeper than 64/],
  [
    'depth 1000 by indentation',
    Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
    /^6\d:\d+ nests deeper than 64/,
  ],
  ['a double key', `${GOOD}http:\n  port: 1\n`, /^3:1 http is given a second time/],
  ['a double key in a group', `${GOOD}  port: 1\n  port: 2\n`, /^4:3 http\.port is given a second time/],
  ['an unknown key', `${GOOD}htttp: 1\n`, /^3:1 htttp is not a key here; did you mean http\?/],
  ['__proto__', `${GOOD}__proto__:\n  polluted: true\n`, /^3:1 the key __proto__ is not taken/],
  ['constructor in a plugin', `${GOOD}plugins:\n  x:\n    constructor: 1\n`, /^5:5 the key constructor is not taken/],
  ['a tab for indentation', 'http:\n\ttoken: x\n', /^2:1 is not valid YAML/],
  ['a byte order mark', `\uFEFF${GOOD}`, /^1:1 starts with a byte order mark; save it as UTF-8 without one/],
  ['two documents', `${GOOD}---\n${GOOD}`, /^3:1 holds a second document/],
  ['!!js/function', `${GOOD}plugins:\n  x: !!js/function 'x'\n`, /^4:\d+ (YAML tags|is not valid YAML)/],
  ['!!binary', `${GOOD}plugins:\n  x: {y: !!binary aGk=}\n`, /^4:\d+ YAML tags are not taken/],
  ['a directive', `%YAML 1.1\n---\n${GOOD}`, /^1:1 YAML directives are not taken/],
  ['a list for a file', '- a\n', /^1:1 must hold keys/],
  ['a scalar for a file', 'hello', /^1:1 must hold keys/],
  ['a list as key', `${GOOD}? [a]\n: 1\n`, /^3:3 keys must be plain words/],
  ['a control character', `${GOOD}# \u0007\n`, /^3:3 control characters/],
  ['an undefined alias', `${GOOD}plugins: *nobody\n`, /^3:10 /],
  ['a number past all bounds', `${GOOD}inbox:\n  maxPending: 1e999\n`, /^4:15 inbox\.maxPending is a number/],
  ['a merge key', `${GOOD}plugins:\n  x: &x {a: 1}\n  y: {<<: *x}\nz: 1\n`, /^5:7 merge keys \(<<\) are not taken/],
  ['a megabyte of brackets', '['.repeat(MIB), /^1:65 nests deeper/],
  ['a megabyte of dashes', '- '.repeat(MIB / 2), /tokens/],
  ['a megabyte of keys', Array.from({ length: 90_000 }, (_, index) => `k${index}: 1`).join('\n'), /tokens/],
  [
    'ten thousand keys',
    Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join('\n'),
    /^1:1 (http\.token is missing|k0 is not a key)/,
  ],
  ['ten thousand double keys', `${GOOD}${'log_level: info\n'.repeat(10_000)}`, /second time/],
  ['a megabyte of anchors', `a: ${'&a '.repeat(300_000)}`, /tokens/],
  ['a megabyte of quotes', `"${'\\'.repeat(MIB - 10)}`, /^1:\d+ is not valid YAML/],
  ['a key of a megabyte', `${GOOD}? ${'x'.repeat(MIB - 60)}\n: 1\n`, /is not a key here/],
  [
    'a megabyte of references',
    `${GOOD}host:\n  name: "${'${HTTP_TOKEN}'.repeat(70_000)}"\n`,
    /host\.name (must be a text of 1 to 100|is too large)/,
  ],
  [
    'a bad pattern of a megabyte',
    `http:\n  base: /${'a/'.repeat(500_000)}\n  token: \${HTTP_TOKEN}\n`,
    /^2:3 http\.base/,
  ],
];

describe('hostile svc.config.yml', () => {
  for (const [name, text, expected] of CASES) {
    it(`refuses ${name}`, (t) => {
      const { error, faults } = faultsOf(() => loadText(t, text));

      const first = error.message.split('\n')[0]?.replace(/^svc\.config\.yml:/, '') ?? '';
      assert.match(first, expected);
      assert.equal(ERRORS[error.code].exit, EXIT.config);
      assert.ok(faults.every(({ line, column }) => line >= 1 && column >= 1));
      assert.ok(error.message.length < 100_000, `${error.message.length} characters`);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    });
  }

  it('takes Windows line ends', (t) => {
    assert.equal(loadText(t, GOOD.replaceAll('\n', '\r\n')).config.http.token.reveal(), GOOD_TOKEN);
  });

  it('takes anchors and aliases in small numbers', (t) => {
    const loaded = loadText(t, `${GOOD}plugins:\n  x: &x {a: 1}\n  y: *x\n`);

    assert.deepEqual(loaded.config.plugins['y'], { a: 1, enabled: true });
  });
});

describe('what is no file of text', () => {
  const refused = (t: Parameters<typeof temporaryProject>[0], put: (path: string) => void): string => {
    const project = temporaryProject(t, { config: null });
    put(project.paths.config);
    const { error } = faultsOf(() => loadConfig({ project: project.path, mode: 'production', environment: {} }));
    assert.equal(ERRORS[error.code].exit, EXIT.config);
    return error.message;
  };

  it('refuses ten megabytes', (t) => {
    assert.match(
      refused(t, (path) => writeFileSync(path, '#'.repeat(10 * MIB))),
      /^svc\.config\.yml:1:1 is larger than 1048576 bytes/,
    );
  });

  it('refuses a FIFO without waiting', (t) => {
    assert.match(
      refused(t, (path) => void execFileSync('mkfifo', [path])),
      /^svc\.config\.yml:1:1 is not a regular file/,
    );
  });

  it('refuses a link to a device', (t) => {
    assert.match(
      refused(t, (path) => symlinkSync('/dev/zero', path)),
      /^svc\.config\.yml:1:1 is not a regular file/,
    );
  });

  it('refuses a folder, UTF-16, and bytes that are not UTF-8', (t) => {
    assert.match(
      refused(t, (path) => symlinkSync('.', path)),
      /is not a regular file/,
    );
    assert.match(
      refused(t, (path) => writeFileSync(path, Buffer.from(`\uFEFF${GOOD}`, 'utf16le'))),
      /1:1 is UTF-16; save it as UTF-8/,
    );
    assert.match(
      refused(t, (path) => writeFileSync(path, Buffer.from([0x61, 0xff, 0xfe]))),
      /1:2 is not valid UTF-8 here/,
    );
  });

  it('names the missing target of a link', (t) => {
    assert.match(
      refused(t, (path) => symlinkSync('../configs/svc.yml', path)),
      /^svc\.config\.yml:1:1 is a symbolic link whose target is not there: \.\.\/configs\/svc\.yml/,
    );
  });

  it('says that a file is missing', (t) => {
    assert.match(
      refused(t, () => undefined),
      /^svc\.config\.yml:1:1 is not there; `svc init` makes one/,
    );
    assert.match(
      refused(t, (path) => {
        symlinkSync('nowhere', path);
        unlinkSync(path);
      }),
      /is not there/,
    );
  });
});
