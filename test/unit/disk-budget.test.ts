// The disk budget: what it says before its first look.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '../../shared/clock.ts';
import { DiskBudget } from '../../worker/readiness/disk-budget.ts';

describe('the disk budget', () => {
  it('tells whoever asks before its first look what is there, not that it does not know', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'data'), 'x'.repeat(4_096));
    const limits = () => ({ maxBytes: 1e12, minFreeBytes: 0 });
    const budget = new DiskBudget({ folders: [folder], limits, clock: systemClock, changed: () => {} });

    const { usedBytes, freeBytes } = await budget.use();

    assert.equal(usedBytes, 4_096);
    assert.ok(freeBytes > 0 && Number.isFinite(freeBytes), String(freeBytes));
  });
});
