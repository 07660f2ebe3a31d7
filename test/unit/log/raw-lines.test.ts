// Lines that never went through a logger, as `svc runtime logs` shows them (RAW-LINES-1 to RAW-LINES-4).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_REQUEST_BYTES } from '../../../shared/api/control.ts';
import { withoutRawSecrets } from '../../../supervisor/cli/output/raw-lines.ts';

const LOGGED = '{"runtimeId":"r","msg":"a key in a line"}';

/** Masks every `key`, and keeps what it was asked. */
function masker() {
  const asked: string[] = [];
  const mask = async (text: string): Promise<string> => {
    asked.push(text);
    return text.replaceAll(/ke\ny|key/g, '[secret]');
  };
  return { asked, mask };
}

describe('raw lines of the log', () => {
  it('are masked where they stand, and lines of a log left as they are (RAW-LINES-1)', async () => {
    const { asked, mask } = masker();

    const shown = await withoutRawSecrets([LOGGED, 'raw key', LOGGED, '{"half": "key', LOGGED], mask);

    assert.deepEqual(shown, [LOGGED, 'raw [secret]', LOGGED, '{"half": "[secret]', LOGGED]);
    const [first, between, last, ...more] = asked.join().split('\n');
    assert.deepEqual([first, last, more], ['raw key', '{"half": "key', []], 'in one request');
    assert.match(between ?? '', /^[\w-]{36}$/);
  });

  it('are one text where they follow each other (RAW-LINES-2)', async () => {
    const { asked, mask } = masker();

    assert.deepEqual(await withoutRawSecrets(['a ke', 'y b', LOGGED], mask), ['a [secret] b', LOGGED]);
    assert.equal(asked.length, 1);
  });

  it('go into requests that a supervisor takes, each once and in order, whatever they hold (RAW-LINES-3)', async () => {
    const { asked, mask } = masker();
    const lines = Array.from({ length: 3_000 }, (_, n) => `${n} key \u0001\u2028"`.padEnd(90, '\u0002'));

    const shown = await withoutRawSecrets(lines, mask);

    assert.deepEqual(
      shown,
      lines.map((line) => line.replace('key', '[secret]')),
    );
    for (const text of asked)
      assert.ok(Buffer.byteLength(JSON.stringify({ id: 1, protocol: 1, options: { text } })) < MAX_REQUEST_BYTES);
  });

  it('are not shown where one is too long to be masked (RAW-LINES-3)', async () => {
    const { asked, mask } = masker();
    const long = 'key'.repeat(30_000);

    assert.deepEqual(await withoutRawSecrets(['before', long, 'after'], mask), [
      'before',
      '(a line of 90000 characters: see the file)',
      'after',
    ]);
    assert.equal(asked.length, 1);
    assert.match(asked[0] ?? '', /^before\n[\w-]{36}\nafter$/);
  });

  it('are those of another program that logs JSON, too, and not those of the supervisor (RAW-LINES-1)', async () => {
    const { mask } = masker();
    const ours = '{"process":"supervisor","msg":"key"}';

    assert.deepEqual(await withoutRawSecrets([ours, '{"msg":"key"}'], mask), [ours, '{"msg":"[secret]"}']);
  });

  it('are not shown where who should mask them does not answer (RAW-LINES-4)', async () => {
    const silent = (): Promise<never> => Promise.reject(new Error('timeout'));

    assert.deepEqual(await withoutRawSecrets(['a key', 'b', LOGGED, 'c'], silent), [
      '(2 lines that could not be masked: see the file)',
      LOGGED,
      '(1 line that could not be masked: see the file)',
    ]);
  });

  it('stand as they are in the file where nobody masks (RAW-LINES-4)', async () => {
    assert.deepEqual(await withoutRawSecrets(['raw key', LOGGED], async () => undefined), ['raw key', LOGGED]);
  });
});
