// 52. The rendered units as systemd-analyze sees them, without a running manager. The same in a booted one: test/kits/owners.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { renderUnit } from '../../../supervisor/cli/service/render.ts';
import { WORKER_OPTIONS } from '../../../supervisor/cli/start/worker-entry.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const run = promisify(execFile);
/** `--offline` and `--recursive-errors` are of this version. */
const OLDEST = 250;
const version = Number(
  /^systemd (\d+)/.exec(spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? 0,
);
const NEEDS = { skip: version >= OLDEST ? false : `systemd-analyze ${OLDEST} or newer is not there` };
/** What systemd-analyze gives the unit of a user, 0.4 of it for running as root, which it does not. */
const USER_POINTS = 2.1;
const DEPLOY = join(import.meta.dirname, '../../../deploy/systemd');

/** A root with the two units, as `verify --root` looks at it. */
function rootWith(
  t: Cleanup,
  project: string,
  { template, name }: { readonly template: string; readonly name: string },
): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-units-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const facts = {
    name,
    project,
    stateDir: `${project}/.svc`,
    dataDir: `${project}/data`,
    node: '/usr/bin/node',
    workerOptions: WORKER_OPTIONS,
    cli: `${project}/node_modules/svc/dist/cli.js`,
    path: '/usr/bin:/bin',
    host: '127.0.0.1',
    port: 8068,
    stopSeconds: 15,
  };
  for (const [path, text] of [
    ['usr/bin/node', '#!/bin/true\n'],
    ['bin/sh', '#!/bin/true\n'],
    ['usr/lib/systemd/system/basic.target', '[Unit]\nDescription=Basic\n'],
    ...['service', 'socket'].map((kind) => [
      `etc/systemd/system/${name}.${kind}`,
      renderUnit(readFileSync(join(DEPLOY, `${template}.${kind}`), 'utf8'), facts),
    ]),
  ] as const) {
    const file = join(root, path ?? '');
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text ?? '', { mode: (path ?? '').startsWith('etc') ? 0o644 : 0o755 });
  }
  return root;
}

describe('the units', NEEDS, () => {
  for (const [template, name, project] of [
    ['svc@', 'svc@alice', '/srv/svc/alice'],
    ['user', 'svc-bot-012345', '/home/ann/my "bot" 100% $HOME'],
  ] as const)
    it(`leave systemd-analyze verify without a word: ${name}`, async (t) => {
      const root = rootWith(t, project, { template, name });

      const { stdout, stderr } = await run('systemd-analyze', [
        'verify',
        `--root=${root}`,
        '--man=no',
        '--recursive-errors=no',
        `${name}.service`,
        `${name}.socket`,
      ]);

      assert.deepEqual([stdout, stderr], ['', '']);
    });

  for (const [name, template, points] of [
    ['svc@alice', 'svc@', 1.5],
    ['svc-bot-012345', 'user', USER_POINTS],
  ] as const)
    it(`have an exposure of ${points} at most, and a threshold that catches one option less: ${name}`, async (t) => {
      const root = rootWith(t, '/srv/svc/alice', { template, name });
      const file = join(root, `etc/systemd/system/${name}.service`);
      const arguments_ = [
        'security',
        '--offline=yes',
        '--no-pager',
        `--root=${root}`,
        `--threshold=${points * 10}`,
        `${name}.service`,
      ];

      await run('systemd-analyze', arguments_);

      writeFileSync(
        file,
        readFileSync(file, 'utf8')
          .replace(/^CapabilityBoundingSet=$/m, '')
          .replace(/^SystemCallFilter=.*$/gm, ''),
      );
      await assert.rejects(run('systemd-analyze', arguments_));
    });
});
