// A worker whose event loop is blocked, under an owner that notices only its end: it ends by itself, after its report. Needs root.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { INIT_VARIABLE } from '../../../shared/process/first-process.ts';
import { firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { portProject, svc } from '../../support/svc-command.ts';

/** Long enough for more than one look at what blocks it: on a busy machine the first may have no answer. */
const WATCHDOG_SECONDS = 9;
/** Blocks its loop in the way that the file `block` names. */
const BLOCKER = `import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'blocker', setup() {
  let looks = 0; // turns of a host that is up: its other thread begins to look after it in one of them
  setInterval(() => {
    if (!existsSync('block') || (looks += 1) < 100) return;
    const kind = readFileSync('block', 'utf8');
    if (kind === '') return;
    rmSync('block');
    if (kind === 'system') execFileSync('sleep', ['600']);
    for (let n = 0; kind === 'loop'; n += 1) Math.sqrt(n);
  }, 20).unref();
} });
`;

interface Sample {
  readonly frames?: readonly { readonly file: string }[];
}

/** An init, which ends as its child does. */
const INIT = '"$@"; exit $?';

const CASES = [
  { owner: 'a container', how: 'loop', shell: INIT, env: { [INIT_VARIABLE]: 'sh' } },
  { owner: 'a container', how: 'system', shell: INIT, env: { [INIT_VARIABLE]: 'sh' } },
  {
    owner: 'a container, as its first process',
    how: 'loop',
    shell: 'mount --bind /dev/null /bin/sh && exec "$@"',
    env: {},
  },
  { owner: 'launchd', how: 'loop', shell: INIT, env: { XPC_SERVICE_NAME: 'io.svc.test' } },
];

describe('a blocked event loop', { skip: namespaceMissing(), concurrency: 2 }, () => {
  for (const { owner, how, shell, env } of CASES)
    it(`of ${owner} (${how}) ends the process after its report, and the next start tells it`, async (t) => {
      const project = await portProject(t, {
        keys: {
          plugins: { sandbox: {}, blocker: { use: './plugins/blocker.mjs' } },
          supervisor: { watchdogSeconds: WATCHDOG_SECONDS },
        },
        plugins: { 'blocker.mjs': BLOCKER },
      });
      const command = ['sh', '-c', shell, 'sh', ...hostCommand(project.path)];
      const blocked = firstProcess(t, command, { env });
      await says(blocked, 'worker up');

      writeFileSync(join(project.path, 'block'), how);
      const ended = await blocked.ended;

      assert.notEqual(ended.code, 0, ended.stdout + ended.stderr);
      assert.match(ended.stderr, /the event loop has stood still for \d+ s, so this process ends: .*blocked-/);
      const [name = ''] = readdirSync(project.paths.reportsDir);
      const report = JSON.parse(readFileSync(join(project.paths.reportsDir, name), 'utf8'));
      assert.equal(report.state, 'silent');
      // On a busy machine the first look at it may have had no answer.
      const { frames } = report.samples.find((sample: Sample) => sample.frames !== undefined) ?? {};
      assert.equal(frames?.[0].file.endsWith('plugins/blocker.mjs'), how === 'loop' ? true : undefined);

      const next = firstProcess(t, command, { env });
      await says(next, 'worker up');
      const status = await svc(['runtime', 'status', '--json'], { cwd: project.path });
      const { exits } = JSON.parse(status.stdout) as { exits: readonly { reason: string; detail: string }[] };
      assert.equal(exits[0]?.reason, 'crashed', status.stdout);
      assert.match(exits[0]?.detail ?? '', /while its event loop was blocked: .*blocked-/);
      await next.end();
    });
});
