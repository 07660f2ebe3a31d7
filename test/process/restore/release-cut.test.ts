// An exchange of code that was cut in the middle, under real git, npm and a daemon: whatever comes next finishes it, or names the one command that does.
import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { listReleases } from '../../../shared/recovery/release-record.ts';
import { decideSwitch, type SwitchPurpose } from '../../../shared/recovery/switch.ts';
import { codeRenames } from '../../../worker/recovery/release/switch-code.ts';
import { handledBy, plugin, type ReleasedProject, releasedProject } from '../../support/process/released-project.ts';
import { startProgram, untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

async function done(of: ReleasedProject, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await of.svc(...args);
  assert.equal(code, 0, `svc ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const treeOf = ({ project }: ReleasedProject, tree: string): string => join(project.path, '.svc/releases/r1', tree);

/** As a kill leaves it: the exchange is decided, the present code has moved away, the other has not come. */
function cut(of: ReleasedProject, purpose: SwitchPurpose, { aside, comes }: Record<'aside' | 'comes', string>): void {
  const { path } = of.project;
  const code = { aside: treeOf(of, aside), comes: treeOf(of, comes) };
  const plan = codeRenames({ project: path, environment: {}, name: 'r1', staying: [], ...code });
  decideSwitch(path, { purpose, names: { release: 'r1' }, ...plan });
  for (const { from, to } of plan.renames)
    if (to.includes(`r1/${aside}/`)) renameSync(join(path, from), join(path, to));
  assert.equal(existsSync(of.project.paths.config), false);
}

it('an exchange that was cut is finished by a start of the host, and by the step of the release', {
  timeout: 600_000,
}, async (t) => {
  const shop = await releasedProject(t, { b: plugin('B') });
  const { project, commits, url } = shop;
  /** The project has no svc while its code is away. */
  const svcIn = (tree: string, ...args: readonly string[]) =>
    startProgram(join(treeOf(shop, tree), 'node_modules/svc/dist/cli.js'), args, { cwd: project.path }).ended;
  await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');
  await done(shop, 'release', 'begin', '--to', commits.b);
  await done(shop, 'release', 'check');
  await done(shop, 'runtime', 'stop');
  cut(shop, 'release', { aside: 'previous', comes: 'next' });

  const observe = await svcIn('previous', 'release', 'observe');
  const status = await svcIn('previous', 'release', 'status');
  const daemon = await svcIn('previous', 'runtime', 'start', '--daemon', '--timeout', '120');
  await untilReady(url);
  const version = project.read('book.mjs');
  await done(shop, 'release', 'start');
  assert.equal(await shop.deliver('m1'), 200);
  await done(shop, 'runtime', 'stop');
  cut(shop, 'rollback', { aside: 'failed', comes: 'previous' });
  const start = await svcIn('failed', 'release', 'start');
  const back = await svcIn('failed', 'release', 'rollback');
  await untilReady(url);
  await until(() => handledBy(shop).length === 1, { what: 'what was parked' });

  assert.equal(observe.code, 78);
  assert.match(observe.stderr, /svc release start finishes it/);
  assert.match(status.stderr, /svc release start$/m);
  assert.equal(daemon.code, 0, daemon.stdout + daemon.stderr);
  assert.match(daemon.stderr, /the exchange of code that was cut is finished/);
  assert.match(version, /'B '/);
  assert.equal(start.code, 78);
  assert.match(start.stderr, /svc release rollback finishes it/);
  assert.equal(back.code, 0, back.stdout + back.stderr);
  assert.equal(listReleases(project.path).at(-1)?.state, 'rolled_back');
  assert.deepEqual(handledBy(shop), ['A m1']);
  assert.equal(existsSync(project.paths.pendingSwitch), false);
});
