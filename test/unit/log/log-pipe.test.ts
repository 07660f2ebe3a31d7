// A log that goes to a pipe, whose reader is slow or gone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { LogOutage } from '../../../shared/api/ipc.ts';
import { LogPipe } from '../../../shared/log/log-pipe.ts';
import { until } from '../../support/until.ts';

function openPipe(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pipe-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const open = (flags: number): number => openSync(join(folder, 'pipe'), flags | constants.O_NONBLOCK);
  const reader = open(constants.O_RDONLY);
  const writer = open(constants.O_WRONLY);
  t.after(() => closeSync(writer));
  const outages: LogOutage[] = [];
  const pipe = new LogPipe({ destination: writer, onRecovered: (outage) => outages.push(outage) });
  let text = '';
  const read = (): string => {
    try {
      const bytes = Buffer.alloc(65_536);
      text += bytes.toString('utf8', 0, readSync(reader, bytes));
    } catch {
      // nothing in it
    }
    return text;
  };
  return { pipe, outages, read, leave: () => closeSync(reader) };
}

const line = (n: number): string => `${n} ${'x'.repeat(200)}\n`;

describe('a log that goes to a pipe', () => {
  it('keeps what a slow reader does not take, up to a bound, in order, and tells the rest (LOG-PIPE-1)', async (t) => {
    const { pipe, outages, read } = openPipe(t);

    for (let n = 0; n < 10_000; n += 1) pipe.write(line(n));
    await until(() => read() !== '' && outages.length === 1, {
      what: 'the outage to be told',
      everyMs: 1,
    });
    pipe.write('after\n');
    await until(() => read().endsWith('after\n'), { what: 'the last line', everyMs: 1 });

    const lines = read().split('\n').slice(0, -2);
    assert.deepEqual(
      lines,
      Array.from({ length: lines.length }, (_, n) => line(n).trimEnd()),
    );
    assert.equal(lines.length + (outages[0]?.lostLines ?? 0), 10_000);
    assert.ok(lines.length > 4_000);
    await pipe.drained();
  });

  it('counts lines that nobody reads any more, and ends nothing (LOG-PIPE-2)', async (t) => {
    const { pipe, outages, leave } = openPipe(t);
    leave();

    for (let n = 0; n < 100; n += 1) {
      pipe.write(line(n));
      await pipe.drained();
    }
    pipe.flush();

    assert.equal(outages.length, 0);
  });
});
