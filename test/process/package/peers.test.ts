// The comparison with others says how it ended: where they cannot be had there was none, and its exit code says so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

it('peers: a comparison with nobody is none: what could not be had is said with its reason, and the exit code is 1', async (t) => {
  const empty = mkdtempSync(join(tmpdir(), 'svc-empty-'));
  t.after(() => rmSync(empty, { recursive: true }));

  const peers = spawn(
    process.execPath,
    ['--import', 'tsx', 'test/kits/peers/run.ts', 'platforms', '--kills', '1', '--json'],
    {
      cwd: REPOSITORY,
      env: { ...process.env, PATH: empty }, // without npm
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const ended = new Promise<number | null>((resolve) => peers.once('exit', resolve));
  const [code, document, said] = await Promise.all([ended, text(peers.stdout), text(peers.stderr)]);

  assert.match(said, /skipped: chat \(.*npm.*\)/);
  assert.deepEqual(Object.keys((JSON.parse(document) as { readonly platforms: object }).platforms), ['svc']);
  assert.equal(code, 1);
});
