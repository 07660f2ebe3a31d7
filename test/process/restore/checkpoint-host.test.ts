// `svc checkpoint` as an operator has it: on a running host, on one that hangs, and on a stopped one.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { it } from 'node:test';
import { portProject, startSvc, svc, untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

it('makes a checkpoint while the host runs, none while it hangs, and one while it is stopped', async (t) => {
  const project = await portProject(t);
  const run = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
  await untilReady(project.url);
  const command = (...args: string[]) => svc(['checkpoint', ...args], { cwd: project.path });

  const made = await command('create', '--reason', 'while it runs', '--json');
  assert.equal(made.code, 0, made.stdout + made.stderr);
  const { name, warnings, bytes } = JSON.parse(made.stdout);
  assert.deepEqual([name, warnings, bytes > 0], ['c1', [], true]);
  const status = await svc(['runtime', 'status'], { cwd: project.path });
  assert.match(status.stdout, /^checkpoint {2}c1, \d+ (?:s|min) old, not verified$/m);

  project.write('notes.md', `token: ${project.token}\n`);
  const refused = await command('create');
  assert.deepEqual([refused.code, /notes\.md:1 holds a secret/.test(refused.stderr)], [1, true], refused.stderr);
  // The list does not wait for a host that is busy.
  const told = await until(async () => [await command('list')].find(({ stderr }) => stderr !== ''), {
    what: 'a list with what the host tells',
  });
  assert.match(
    told.stderr,
    /^the last one failed \d+ (?:s|min) ago: notes\.md:1 holds a secret: no checkpoint was made/m,
  );
  assert.match(told.stdout, /^c1 /m);
  project.write('notes.md', '');

  run.child.kill('SIGSTOP');
  const silent = await command('create');
  run.child.kill('SIGCONT');
  assert.equal(silent.code, 1, silent.stdout + silent.stderr);
  assert.deepEqual(
    readdirSync(project.paths.checkpointsDir).filter((entry) => entry.startsWith('c')),
    ['c1'],
  );

  run.child.kill('SIGTERM');
  assert.equal((await run.ended).code, 0);
  const offline = await command('create');
  assert.match(offline.stdout, /^c3 made, /, offline.stderr);
  const listed = JSON.parse((await command('list', '--json')).stdout);
  assert.deepEqual(
    listed.checkpoints.map((one: { name: string; reason: string | null }) => [one.name, one.reason]),
    [
      ['c3', null],
      ['c1', 'while it runs'],
    ],
  );
  assert.match((await command('prune')).stdout, /^nothing to remove, 2 kept$/m);

  const again = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
  t.after(() => again.child.kill('SIGKILL'));
  await untilReady(project.url);
  assert.match((await svc(['runtime', 'status'], { cwd: project.path })).stdout, /^checkpoint {2}c3, /m);
});
