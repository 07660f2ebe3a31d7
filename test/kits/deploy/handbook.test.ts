// The handbook: each of its `sh` blocks runs in a shell, in the order of the page, and ends with 0: in a project with git, npm and a daemon, and at
// its end in a copy of it on another machine.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { it } from 'node:test';
import { INIT_START } from '../../../supervisor/cli/deploy/project.ts';
import { guideBlocks } from '../../support/deploy/guide-blocks.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { plugin, releasedProject } from '../../support/process/released-project.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const PAGE = 'handbook.md';
const BLOCKS = [
  'targets',
  'first-token',
  'start',
  'watch',
  'rotate-http-token',
  'before-an-upgrade',
  'pack-up',
  'unpack',
  'size',
];
const LIMIT_MS = 120_000;

it('the handbook names commands that run in its order', { timeout: 600_000 }, async (t) => {
  const blocks = guideBlocks(PAGE);
  assert.deepEqual(
    blocks.map(({ name }) => name),
    BLOCKS,
  );
  const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const { path, programs } = await machine(t, disk);
  const elsewhere = join(disk, 'elsewhere');
  mkdirSync(elsewhere);
  t.after(() => shell('svc runtime stop', { cwd: elsewhere, programs }));
  t.after(() => removeLive(disk));
  const type = async (text: string, cwd: string): Promise<string> => {
    const { code, output } = await shell(text.replaceAll('/mnt/disk', disk), { cwd, programs });
    assert.equal(code, 0, `${text}: ${output}`);
    return output;
  };
  for (const { name, text } of blocks) {
    // A host that has lived for a while has checkpoints: the blocks have to take the one that they make.
    if (name === 'before-an-upgrade') await type('svc checkpoint create --reason "long ago"', path);
    if (name === 'unpack') copyWithoutState(path, elsewhere);
    const output = await type(text, name === 'unpack' || name === 'size' ? elsewhere : path);
    if (name === 'before-an-upgrade') assert.match(output, /^c\d+ .* rehearsed .* before the upgrade$/mu);
  }
  assert.match(await type('svc checkpoint list', elsewhere), /^c\d+ .* move$/mu);
});

async function machine(t: Cleanup, disk: string) {
  const { project } = await releasedProject(t, { b: plugin('B') });
  const { path } = project;
  const programs = join(disk, 'programs');
  mkdirSync(programs);
  // The page says `svc`, as in a shell where `npx` or a link has it.
  writeFileSync(join(programs, 'svc'), `#!/bin/sh\nexec "${process.execPath}" node_modules/svc/dist/cli.js "$@"\n`);
  chmodSync(join(programs, 'svc'), 0o755);
  const manifest = JSON.parse(project.read('package.json')) as object;
  project.write('package.json', JSON.stringify({ ...manifest, scripts: { build: 'true', start: INIT_START } }));
  const port = /port: (\d+)/u.exec(project.read('svc.config.yml'))?.[1] ?? assert.fail();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  project.write(
    'svc.config.yml',
    `http:\n  port: ${port}\n  token: \${HTTP_TOKEN}\nplugins:\n  sandbox: {}\n  book:\n    use: ./book.mjs\n`,
  );
  return { path, programs };
}

/** What git and a copy of `.env` bring. */
function copyWithoutState(from: string, to: string): void {
  const left = ['.svc', 'data', 'node_modules'].map((name) => join(from, name));
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.includes(path) });
}

interface Machine {
  readonly cwd: string;
  readonly programs: string;
}

function shell(text: string, { cwd, programs }: Machine): Promise<{ readonly code: number; readonly output: string }> {
  const env = {
    PATH: `${programs}${delimiter}${process.env['PATH']}`,
    HOME: programs,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['--norc', '--noprofile', '-euo', 'pipefail', '-c', text],
      { cwd, env, timeout: LIMIT_MS },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` }),
    );
  });
}
