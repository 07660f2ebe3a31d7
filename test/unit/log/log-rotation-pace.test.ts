// A log of whatever pace is rotated when it is full, not when somebody happens to look.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { RuntimeLog } from '../../../supervisor/log/runtime-log.ts';

const KIB = 1024;
const MAX_BYTES = 2_048 * KIB;
const STEP_MS = 10;

describe('the size of a log', () => {
  for (const kibASecond of [200, 1_000, 1_500, 4_000])
    it(`goes little over its limit at ${kibASecond} KiB a second`, (t) => {
      const path = watched(t);
      const portion = Buffer.alloc((kibASecond * KIB * STEP_MS) / 1_000, 'y');
      for (let rotations = 0, written = 0; rotations < 3 && written < 10 * MAX_BYTES; written += portion.length) {
        appendFileSync(path, portion);
        t.mock.timers.tick(STEP_MS);
        if (!existsSync(`${path}.1`)) continue;
        rotations += 1;
        const { size } = statSync(`${path}.1`);
        rmSync(`${path}.1`);
        assert.ok(size >= MAX_BYTES && size < MAX_BYTES * 1.2, `${size / KIB} KiB`);
      }
      assert.ok(statSync(path).size < MAX_BYTES);
    });
});

function watched(t: TestContext): string {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-pace-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'runtime.log');
  const log = new RuntimeLog({ path, base: {} });
  log.watch({ limits: () => ({ maxBytes: MAX_BYTES, maxFiles: 2 }), onMoved: () => {} });
  t.after(() => log.unwatch());
  return path;
}
