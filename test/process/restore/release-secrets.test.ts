// Twelve secrets in every spelling, printed by builds, thrown by plugins and typed by operators while two releases go there and back: nothing that a
// release writes down, says or shows holds one.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { listReleases } from '../../../shared/recovery/release-record.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { plugin, type ReleasedProject, releasedProject } from '../../support/process/released-project.ts';
import { assertClean, canaries, SPELLINGS } from '../../support/recovery/canary-spellings.ts';
import { untilReady } from '../../support/svc-command.ts';

const secrets = canaries();
const spelled = (): string =>
  Object.values(secrets)
    .flatMap((secret) => Object.values(SPELLINGS).map((write) => write(secret)))
    .join('\n');
const FIRST = Object.values(secrets)[0] ?? '';

/** Of the project, seen from a tree of a release and from the project itself. */
const PRINTS = "node -e \"console.log(require('fs').readFileSync('../../../../data/spelled.txt', 'utf8'))\"";
const THROWS = `if (process.argv.every((word) => word !== '--once')) {
  const { readFileSync } = await import('node:fs');
  console.log(readFileSync('data/spelled.txt', 'utf8'));
  throw new Error('no shop: ' + readFileSync('data/spelled.txt', 'utf8'));
}`;

/** Trees of code hold what the code holds, and packages: no record. */
const NO_RECORD = new Set(['next', 'previous', 'failed', 'data.sqlite', 'project', 'files']);

function recordsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NO_RECORD.has(entry.name) || entry.isSymbolicLink() || entry.isSocket()) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? recordsBelow(path) : [path];
  });
}

it('no secret is in the record of a release, nor in what a release says and shows', { timeout: 900_000 }, async (t) => {
  const asynchronous = plugin('B', THROWS).replace('setup(p)', 'async setup(p)');
  const shop = await releasedProject(t, {
    b: asynchronous,
    scripts: { build: PRINTS, test: PRINTS },
    secrets,
    readySeconds: 60,
  });
  const { project, url, commits } = shop;
  project.write('data/spelled.txt', spelled());
  const said: (readonly [command: string, text: string])[] = [];
  const run = async (wanted: number, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await shop.svc(...args);
    said.push([`svc ${args.slice(0, 2).join(' ')}`, stdout + stderr]);
    assert.equal(code, wanted, `svc ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout + stderr;
  };

  await run(0, 'runtime', 'start', '--daemon', '--timeout', '120');
  await run(0, 'release', 'begin', '--to', commits.b);
  await run(0, 'release', 'check', '--json');
  const taken = await run(1, 'release', 'start');
  await untilReady(url);
  await run(0, 'release', 'begin', '--from', harmless(t, shop));
  await run(0, 'release', 'check');
  await run(0, 'release', 'start');
  await untilReady(url);
  await run(1, 'accept', '--settle', `host=said ${FIRST}`, '--json');
  await run(0, 'accept', '--settle', `endpoints=said ${FIRST}`, '--json');
  await run(0, 'release', 'accept', '--reason', `seen with ${FIRST}`);
  await run(0, 'release', 'observe');
  for (const verb of ['status', 'history']) await run(0, 'release', verb, '--json');
  const shown = await shownOver(shop);
  await run(0, 'release', 'rollback', '--yes', '--json');
  await run(0, 'release', 'status', '--json');

  assert.match(taken, /r1 was rolled back: the new version did not get ready: .*no shop/);
  assert.deepEqual(
    listReleases(project.path).map(({ state }) => state),
    ['rolled_back', 'rolled_back'],
  );
  for (const [what, text] of [...said, ...shown]) assertClean(what, text, secrets);
  const records = recordsBelow(project.paths.stateDir);
  const names = new Set(records.map((path) => basename(path)));
  for (const name of ['record.json', 'check.log', 'acceptance.json', 'manifest.json'])
    assert.ok(names.has(name), `${name} of ${[...names].join(', ')}`);
  for (const path of records) assertClean(path, readFileSync(path, 'latin1'), secrets);
  const log = readFileSync(join(project.path, '.svc/releases/r1/check.log'), 'utf8');
  assert.ok(log.includes('[secret]'), 'the build has printed secrets');
  assert.match(readFileSync(join(project.path, '.svc/releases/r2/acceptance.json'), 'utf8'), /seen with \[secret\]/);
});

/** A folder with the code of A and the scripts of B. */
function harmless(t: { after(run: () => void): void }, { project, git, commits }: ReleasedProject): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-next-'));
  t.after(() => removeLive(folder));
  for (const name of git('ls-tree', '--name-only', commits.a).split('\n'))
    cpSync(join(project.path, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  for (const name of ['package.json', 'package-lock.json'])
    writeFileSync(join(folder, name), `${git('show', `${commits.b}:${name}`)}\n`);
  return folder;
}

async function shownOver({ url, project }: ReleasedProject): Promise<readonly (readonly [string, string])[]> {
  const paths = ['/api/releases', '/api/releases/r1', '/api/releases/r2', '/api/events?format=json&limit=1000'];
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${project.token}` } });
      assert.equal(response.status, 200, path);
      return [path, await response.text()] as const;
    }),
  );
}
