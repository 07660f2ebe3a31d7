// What is not seen in a text: escaped for terminals and logs, left out of names.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapeLine, escapeText } from '../../../shared/log/redaction.ts';
import { plainName } from '../../../shared/log/visible-text.ts';
import { createPrinter } from '../../../supervisor/cli/output/printer.ts';

const HOSTILE = 'a\u202eb\u2066c\u200fd\u061ce\u200bf\u2060g\ufeffh\u00adi\u{e0041}j\u2028k\u009bl\u007fm\u0007n';
const ESCAPED =
  'a\\u202eb\\u2066c\\u200fd\\u061ce\\u200bf\\u2060g\\ufeffh\\u00adi\\udb40\\udc41j\\u2028k\\u009bl\\u007fm\\u0007n';
const TEXT = 'grüße, 漢字, \u{1f468}\u200d\u{1f469} \u2764\ufe0f, می\u200cخواهم';

const streamOf = (isTTY: boolean) => {
  const written: string[] = [];
  const stream = { isTTY, write: (text: string) => (written.push(text), true) } as unknown as NodeJS.WriteStream;
  return { stream, written };
};

describe('what is not seen in a text', () => {
  it('is escaped in logs and on terminals, where text and emoji stay as they are', () => {
    assert.equal(escapeText(HOSTILE), ESCAPED);
    assert.equal(JSON.parse(escapeLine(JSON.stringify(HOSTILE))), HOSTILE);
    assert.doesNotMatch(escapeLine(JSON.stringify(HOSTILE)), /[^ -~]/);
    assert.deepEqual([escapeText(TEXT), escapeLine(TEXT)], [TEXT, TEXT]);
  });

  it('is not in names', () => {
    assert.equal(plainName(`  ${HOSTILE}\n`), 'abcdefghij k l m n');
    assert.equal(plainName(TEXT), TEXT);
    assert.equal(plainName('\u202e \u200b'), '…');
  });

  for (const isTTY of [true, false])
    it(`is escaped in all that a command prints ${isTTY ? 'on a terminal, but for its own colours' : 'into a pipe'}`, () => {
      const [stdout, stderr] = [streamOf(isTTY), streamOf(isTTY)];
      const print = createPrinter({ json: false, env: {}, plain: false, stdout: stdout.stream, stderr: stderr.stream });

      print.text(print.color.bad(`x ${HOSTILE}`));
      print.text('\u001b[8mhidden\u001b[2J');
      print.table([`y ${HOSTILE}`], [[print.color.dim(HOSTILE)]]);
      print.line({ z: HOSTILE });
      print.note(`n ${HOSTILE}`);

      const all = [...stdout.written, ...stderr.written].join('');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      const bare = all.replaceAll(/\u001b\[(?:1|2|22|31|39)m/g, '');
      assert.doesNotMatch(bare, /[^ -~\n]/);
      assert.equal(bare === all, !isTTY);
      assert.match(bare, /\\u001b\[8mhidden\\u001b\[2J/);
      assert.equal(bare.split(ESCAPED).length, 6);
      assert.equal(JSON.parse(stdout.written.find((text) => text.startsWith('{')) ?? '').z, HOSTILE);
    });
});
