// A release whose code is an image, in two containers that stand in for an engine: the code is only read, state and data are volumes, and what runs in
// a container sees no process of another one. svc keeps restore point, record, window and the way back of the data. Needs root.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeLive } from '../../support/disk/remove-live.ts';
import { type First, firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { plugin } from '../../support/process/released-project.ts';
import { rowsOf } from '../../support/recovery/changed-rows.ts';
import { CLI, type Ended, portProject } from '../../support/svc-command.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const KILLABLE = fileURLToPath(new URL('../../../dist/failpoints/cli.js', import.meta.url));
const COMMITS = { A: 'a'.repeat(40), B: 'b'.repeat(40) } as const;
type Version = keyof typeof COMMITS;

/** Puts an image in the place of the project, only to be read, with its two volumes, then becomes the command. */
const MOUNT = `mount --bind "$1" "$3" && mount --bind "$2/svc" "$3/.svc" && mount --bind "$2/data" "$3/data" &&
  mount -o remount,ro,bind "$3" && cd "$3" && shift 3 && exec "$@"`;

/** Names below the folder. What a link leads to is none of them: `node_modules/svc` is this repository, where others write. */
function namesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...namesIn(path)] : [path];
  });
}

async function containers(t: Cleanup, { ofB, readySeconds }: { readonly ofB: string; readonly readySeconds: number }) {
  const project = await portProject(t, {
    keys: {
      plugins: { sandbox: {}, book: { use: './plugins/book.mjs' } },
      release: { readySeconds },
      recovery: { everyHours: 0, verifyDays: 0 },
    },
    plugins: { 'book.mjs': plugin('A') },
  });
  const { path, token, url } = project;
  const place = mkdtempSync(join(tmpdir(), 'svc-images-'));
  t.after(() => removeLive(place));
  rmSync(project.paths.env);
  for (const name of ['.svc', 'data']) mkdirSync(join(path, name), { mode: 0o700 });
  for (const version of ['A', 'B']) cpSync(path, join(place, version), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(place, 'B', 'plugins/book.mjs'), ofB);
  for (const name of ['svc', 'data']) mkdirSync(join(place, name), { mode: 0o700 });
  const environment = (version: Version) => ({
    HTTP_TOKEN: token,
    PROJECT_COMMIT: COMMITS[version],
    PROJECT_IMAGE: `shop:${version}`,
  });
  const inside = (version: Version, words: readonly string[], more: Readonly<Record<string, string>> = {}): First =>
    firstProcess(t, ['sh', '-c', MOUNT, 'sh', join(place, version), place, path, ...words], {
      env: { ...environment(version), ...more },
    });
  let running: { readonly version: Version; readonly first: First } | undefined;
  return {
    url,
    volumes: place,
    code: () => ['A', 'B'].map((version) => namesIn(join(place, version)).join()),
    handled: (): readonly string[] =>
      existsSync(join(place, 'data/handled'))
        ? readFileSync(join(place, 'data/handled'), 'utf8').split('\n').slice(0, -1)
        : [],
    start: (version: Version): First => {
      const first = inside(version, hostCommand(path));
      running = { version, first };
      return first;
    },
    async stop(): Promise<void> {
      const { first } = running ?? assert.fail();
      process.kill(await first.pid(), 'SIGTERM');
      await first.ended;
    },
    /** As `docker compose exec`. */
    async exec(...args: readonly string[]): Promise<Ended> {
      const { version, first } = running ?? assert.fail();
      const target = ['--target', String(await first.pid()), '--pid', '--mount', `--wdns=${path}`];
      return runProgram('nsenter', [...target, process.execPath, CLI, ...args], environment(version));
    },
    /** As `docker compose run --rm`. */
    run: (version: Version, ...args: readonly string[]): Promise<Ended> =>
      inside(version, [process.execPath, CLI, ...args]).ended,
    /** The same, killed at its failpoint: below a shell, since no first process can be killed from within. */
    killed: (version: Version, failpoint: string, ...args: readonly string[]): Promise<Ended> =>
      inside(version, ['sh', '-c', '"$@"; exit $?', 'sh', process.execPath, KILLABLE, ...args], {
        SVC_FAILPOINTS: failpoint,
      }).ended,
    async say(delivery: string): Promise<void> {
      const response = await fetch(`${url}/api/chat/say`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ person: 'ann', text: delivery, delivery }),
      });
      assert.equal(response.status, 202, await response.text());
    },
  };
}

function runProgram(program: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const child = spawn(program, words, {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...text })));
}

const done = async (ended: Promise<Ended>): Promise<string> => {
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stdout + stderr);
  return stdout;
};

const SKIP = namespaceMissing();

describe('a release of an image', { skip: SKIP, timeout: 900_000, concurrency: 2 }, () => {
  it('goes there and back with the data of before, though its rollback is killed behind the switch', async (t) => {
    const of = await containers(t, { ofB: plugin('B'), readySeconds: 300 });
    const code = of.code();
    await says(of.start('A'), 'worker up');
    await of.say('m1');
    await until(() => of.handled().length === 1, { what: 'the first message' });

    await done(of.exec('release', 'begin', '--image'));
    await of.say('m2');
    const same = await of.exec('release', 'check');
    const checked = await done(of.run('B', 'release', 'check'));
    const early = await of.exec('release', 'start');
    await of.stop();
    await says(of.start('B'), 'worker up');
    const beside = await of.run('A', 'release', 'rollback');
    await done(of.exec('release', 'start'));
    await done(of.exec('release', 'accept', '--settle', 'host=as planned'));
    await done(of.exec('release', 'observe'));
    await until(() => of.handled().length === 2, { what: 'what was parked' });
    const wrong = await of.exec('release', 'rollback', '--yes');
    await of.stop();
    const cut = await of.killed('A', 'restore.finished=kill', 'release', 'rollback', '--yes');
    const status = await of.run('A', 'release', 'status');
    await says(of.start('A'), 'worker up');
    await done(of.exec('ingress', 'resume'));
    await of.say('m3');
    await until(() => of.handled().length === 3, { what: 'a message after the rollback' });
    const back = await done(of.exec('release', 'rollback'));
    await of.say('m2');
    await of.say('m4');
    await until(() => of.handled().length === 4, { what: 'the last message' });
    await of.stop();

    assert.match(same.stderr, /this is not the new image: shop:A \(commit a{12}/);
    assert.match(checked, /stop the container of before, start shop:B \(commit b{12}/);
    assert.match(early.stderr, /this is not the image that was checked: it is shop:A/);
    assert.match(beside.stderr, /already running in another container[^]*end the other/);
    assert.match(wrong.stderr, /once in a container of shop:A \(commit a{12}/);
    assert.equal(cut.code, 137, cut.stdout + cut.stderr);
    assert.match(status.stdout, /observing[^]*1 handled message[^]*next: svc release rollback/);
    assert.match(back, /^start shop:A \(commit a{12}/m);
    assert.deepEqual(of.handled(), ['A m1', 'B m2', 'A m3', 'A m4']);
    const { state, before, after, rollback, results } = JSON.parse(
      readFileSync(join(of.volumes, 'svc/releases/r1/record.json'), 'utf8'),
    );
    assert.deepEqual([state, before.image, after.image, after.commit], ['rolled_back', 'shop:A', 'shop:B', COMMITS.B]);
    assert.deepEqual(Object.keys(results).toSorted(), ['migrate', 'once']);
    assert.ok(after.svc !== null && after.configVersion !== null);
    assert.deepEqual([rollback.replaced, rollback.lost.handled], ['s1', 1]);
    assert.deepEqual(readdirSync(join(of.volumes, 'svc/replaced')), ['s1']);
    assert.deepEqual(rowsOf(join(of.volumes, 'svc/data.sqlite'), 'SELECT replaced FROM restores'), [['s1']]);
    assert.deepEqual(of.code(), code);
  });

  it('does not roll an image back by itself that does not get ready, and says how to', async (t) => {
    const broken = plugin('B', "if (process.argv.every((word) => word !== '--once')) throw new Error('not today');");
    const of = await containers(t, { ofB: broken, readySeconds: 10 });
    await says(of.start('A'), 'worker up');
    await done(of.exec('release', 'begin', '--image'));
    await of.say('m1');
    await done(of.run('B', 'release', 'check'));
    await of.stop();
    const failed = of.start('B');
    await says(failed, 'not today');

    const start = await of.run('B', 'release', 'start');
    await failed.end();
    const back = await done(of.run('A', 'release', 'rollback'));
    await says(of.start('A'), 'worker up');
    await done(of.exec('ingress', 'resume'));
    await until(() => of.handled().length === 1, { what: 'what was parked' });
    await of.stop();

    assert.equal(start.code, 1);
    assert.match(start.stderr, /the new image did not get ready: [^]*once in a container of shop:A/);
    assert.match(back, /^start shop:A/m);
    assert.deepEqual(of.handled(), ['A m1']);
  });
});
