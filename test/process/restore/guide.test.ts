// The pages of the operator's guide about restore points, releases and incidents: each different command in them runs, in the order of the page, against one
// project with git, npm and a daemon, and ends with the exit code that the page says. A checkpoint or a release that stands in several places
// is done where it stands first. A command that this file does not know fails.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { openRelease, type ReleaseState, writeRelease } from '../../../shared/recovery/release-record.ts';
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { type GuideCommand, guideCommands, wordsOf } from '../../support/guide-commands.ts';
import { plugin, type ReleasedProject, releasedProject } from '../../support/process/released-project.ts';
import { type Ended, startProgram } from '../../support/svc-command.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const PAGES = ['recover.md', 'release.md', 'incident.md'];
const ENOUGH_TO_JUDGE = 20;
const STATES = ['begun', 'checked', 'started', 'accepted', 'observing'] as const;
const STEPS = ['check', 'start', 'accept', 'observe'] as const;

/** Tried once each: they take seconds, and bring the project by themselves where they need it. */
const IS_LONG = /^svc (?:checkpoint|release) /u;

interface Step {
  /** Brings the project where the page thinks it is. */
  readonly before?: (shop: Shop) => Promise<unknown> | void;
  /** More words, for a script in place of a person. */
  readonly more?: (shop: Shop) => Promise<readonly string[]> | readonly string[];
  readonly after?: (shop: Shop, ended: Ended) => Promise<unknown> | void;
}

/** Commands by their text in the page. */
const KNOWN: Readonly<Record<string, Step>> = {
  'svc checkpoint create': { before: running },
  'svc checkpoint create --reason "before the move"': { before: running },
  'svc checkpoint create --reason "incident"': {},
  'svc checkpoint create --reason "after the incident"': {},
  'svc checkpoint list': {},
  'svc checkpoint show c12': {},
  'svc checkpoint verify c12': {},
  'svc checkpoint verify c12  # exit 1': { before: damage, after: mend },
  'svc checkpoint export c12': { after: noteExport },
  'svc checkpoint export c12 --to /mnt/backup --recipient age1ql3z…': { after: noteExport },
  'svc checkpoint import FILE': {},
  'svc checkpoint import svc-shop-c12.tar.gz.age --identity-file key.txt --expect 9f86d081884c7d65…': {},
  'svc checkpoint prune': {},
  'svc checkpoint restore c12': { before: stopped, more: agreed('c12') },
  'svc checkpoint restore c12 --dry-run': { before: running },
  'svc checkpoint restore c12 --yes --plan <digest>': { before: stopped },
  'svc checkpoint restore --undo': { before: stopped, more: agreed('--undo') },
  'svc checkpoint restore --finish': { before: stopped },
  // Nothing was accepted before, and nobody writes to the bot.
  'svc accept --wait 60s  # exit 1': { before: running },
  'svc runtime status': { before: running },
  'svc runtime stop': {},
  'svc runtime start --daemon': { before: stopped },
  'svc runtime restart': { before: running },
  'svc runtime logs': { before: running },
  'svc runtime logs --level warn': { before: running },
  'svc ingress pause --reason "incident" --wait 60s': { before: running },
  'svc ingress resume': {},
  'svc ingress status': {},
  'svc ingress resume --dry-run': { before: running },
  'svc inbox list --state dead': {},
  'svc inbox replay --help': {},
  'svc doctor': { before: running },
  'svc workroom verify': {},
  'svc release check --to v1.4.0': { before: noRelease },
  'svc release begin --to v1.4.0': { before: noRelease },
  'svc release begin --from ../shop-next': { before: noRelease },
  'svc release begin --image': { before: noRelease, after: noRelease },
  'svc release check': { before: releaseIn('begun') },
  'svc release start': { before: releaseIn('checked') },
  'svc release start --stay': { before: releaseIn('checked') },
  'svc release accept --reason "a test order went through"': { before: releaseIn('started') },
  'svc release accept --reason "…"': { before: releaseIn('started') },
  'svc release observe': { before: releaseIn('accepted') },
  'svc release finish': { before: wellDone },
  'svc release finish  # exit 1': { before: releaseIn('observing') },
  'svc release finish --unclear': { before: windowOver },
  'svc release rollback': { before: releaseIn('begun') },
  'svc release rollback --yes': { before: releaseIn('observing') },
  'svc release status': {},
  'svc release history': {},
  'node .svc/releases/r7/previous/node_modules/svc/dist/cli.js release start': {
    before: releaseIn('started'),
  },
};

interface Shop extends ReleasedProject {
  /** A folder outside the project: another disk. */
  readonly elsewhere: string;
  readonly recipient: string;
  /** What the last export printed. */
  exported: { readonly file: string; readonly manifest: string } | undefined;
  /** A file of a checkpoint that was changed, and what it held. */
  damaged: { readonly file: string; readonly held: Buffer } | undefined;
  /** Counts versions and messages. */
  count: number;
}

const nameOf = ({ text, exit }: GuideCommand): string => (exit === 0 ? text : `${text}  # exit ${exit}`);

it('the guide names commands that run as it says', { timeout: 900_000 }, async (t) => {
  const commands = PAGES.flatMap(guideCommands);
  const untried = commands.filter((command) => KNOWN[nameOf(command)] === undefined);
  assert.deepEqual(untried, [], 'the guide names commands that are not tried here');
  const shop = await shopOf(t);
  await running(shop);
  const tried = new Set<string>();
  for (const command of commands) {
    if (tried.has(nameOf(command)) && IS_LONG.test(command.text)) continue;
    tried.add(nameOf(command));
    await tryOut(shop, command);
  }
});

async function tryOut(shop: Shop, command: GuideCommand): Promise<void> {
  const { before, more, after } = KNOWN[nameOf(command)] ?? assert.fail();
  await before?.(shop);
  const words = [...(await filledIn(shop, command.text)), ...((await more?.(shop)) ?? [])];
  const ended = await run(shop, words);
  assert.equal(ended.code, command.exit, `${command.place}: ${words.join(' ')}\n${ended.stdout}${ended.stderr}`);
  await after?.(shop, ended);
}

async function shopOf(t: Cleanup): Promise<Shop> {
  const elsewhere = mkdtempSync(join(tmpdir(), 'svc-elsewhere-'));
  t.after(() => removeLive(elsewhere));
  const released = await releasedProject(t, { b: plugin('B') });
  const identity = await generateIdentity();
  const { project, git, commits } = released;
  project.write('.git/info/exclude', 'key.txt\n*.tar.gz\n');
  project.write('key.txt', `${identity}\n`);
  git('tag', 'v1.4.0', commits.b);
  const recipient = await identityToRecipient(identity);
  return { ...released, elsewhere, recipient, exported: undefined, damaged: undefined, count: 0 };
}

/** Names of the page become those that exist here. */
async function filledIn(shop: Shop, text: string): Promise<readonly string[]> {
  const { exported, recipient, elsewhere, project } = shop;
  const words: Readonly<Record<string, string | undefined>> = {
    c12: newest(shop),
    'age1ql3z…': recipient,
    '/mnt/backup': elsewhere,
    '../shop-next': text.includes('shop-next') ? nextVersion(shop) : undefined,
    FILE: exported?.file,
    'svc-shop-c12.tar.gz.age': exported?.file,
    '9f86d081884c7d65…': exported?.manifest,
    // What is missing stays missing.
    '60s': text.startsWith('svc accept') ? '1s' : undefined,
    '<digest>': text.includes('<digest>') ? await digestOf(shop, newest(shop)) : undefined,
  };
  return wordsOf(text).map((word) => words[word] ?? word.replace('/r7/', `/${openRelease(project.path)?.name}/`));
}

function run({ svc, project }: Shop, [program, ...words]: readonly string[]): Promise<Ended> {
  if (program === 'svc') return svc(...words);
  return startProgram(join(project.path, words[0] ?? ''), words.slice(1), { cwd: project.path }).ended;
}

async function done({ svc }: Shop, ...words: readonly string[]): Promise<Ended> {
  const ended = await svc(...words);
  assert.equal(ended.code, 0, `svc ${words.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return ended;
}

async function running(shop: Shop): Promise<void> {
  if ((await shop.svc('runtime', 'status')).code !== 0) await done(shop, 'runtime', 'start', '--daemon');
}

async function stopped(shop: Shop): Promise<void> {
  await done(shop, 'runtime', 'stop');
}

function newest({ project }: Shop): string {
  const all = storedCheckpoints(project.path).filter(({ fault }) => fault === undefined);
  return all.toSorted((a, b) => Number(b.name.slice(1)) - Number(a.name.slice(1)))[0]?.name ?? 'none';
}

async function digestOf(shop: Shop, what: string): Promise<string> {
  return JSON.parse((await done(shop, 'checkpoint', 'restore', what, '--dry-run', '--json')).stdout).digest;
}

function agreed(what: string): (shop: Shop) => Promise<readonly string[]> {
  return async (shop) => ['--yes', '--plan', await digestOf(shop, what === 'c12' ? newest(shop) : what)];
}

function damage(shop: Shop): void {
  const file = join(shop.project.paths.checkpointsDir, newest(shop), 'project', 'book.mjs');
  shop.damaged = { file, held: readFileSync(file) };
  rmSync(file);
  writeFileSync(file, '// changed');
}

async function mend(shop: Shop): Promise<void> {
  const { file, held } = shop.damaged ?? assert.fail();
  writeFileSync(file, held);
  await done(shop, 'checkpoint', 'verify', basename(join(file, '../..')), '--quick');
}

function noteExport(shop: Shop, { stdout }: Ended): void {
  const [, file] = / in (\S+), /u.exec(stdout) ?? assert.fail(stdout);
  const [, manifest] = /^manifest (\S+)$/mu.exec(stdout) ?? assert.fail(stdout);
  assert.ok(existsSync(file as string));
  shop.exported = { file: file as string, manifest: manifest as string };
}

async function noRelease(shop: Shop): Promise<void> {
  await running(shop);
  if (openRelease(shop.project.path) !== undefined) await done(shop, 'release', 'rollback', '--yes');
  // A restore before it has left a pause, which a release would keep.
  await done(shop, 'ingress', 'resume');
}

/** A folder with the code that runs, as another version: so its lockfile is another. */
function nextVersion(shop: Shop): string {
  const { project, elsewhere } = shop;
  shop.count += 1;
  const folder = join(elsewhere, `shop-${shop.count}`);
  for (const name of ['package.json', 'package-lock.json', 'book.mjs', 'svc.config.yml', 'vendor', '.gitignore'])
    cpSync(join(project.path, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  for (const name of ['package.json', 'package-lock.json']) {
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), text.replaceAll(/"version": ?"[12]\.0\.\d+"/gu, `"version":"2.0.${shop.count}"`));
  }
  return folder;
}

/** Does the steps up to a state, of the open release or of a new one. */
function releaseIn(state: (typeof STATES)[number]): (shop: Shop) => Promise<void> {
  return async (shop) => {
    const stateNow = (): ReleaseState | undefined => openRelease(shop.project.path)?.state;
    const at = (one: ReleaseState | undefined): number => STATES.indexOf(one as (typeof STATES)[number]);
    if (at(stateNow()) > at(state)) await noRelease(shop);
    if (stateNow() === undefined) {
      await noRelease(shop);
      await done(shop, 'release', 'begin', '--from', nextVersion(shop));
    }
    for (const step of STEPS.slice(at(stateNow()), at(state)))
      await done(shop, 'release', step, ...(step === 'accept' ? ['--reason', 'tried by hand'] : []));
  };
}

/** Its hours are over. */
async function windowOver(shop: Shop): Promise<void> {
  await releaseIn('observing')(shop);
  const record = openRelease(shop.project.path) ?? assert.fail();
  writeRelease(shop.project.path, { ...record, windowUntil: new Date(Date.now() - 1).toISOString() });
}

async function wellDone(shop: Shop): Promise<void> {
  await windowOver(shop);
  const handled = (): number => shop.project.read('data/handled').trim().split('\n').length;
  const before = existsSync(join(shop.project.path, 'data/handled')) ? handled() : 0;
  for (let n = 0; n < ENOUGH_TO_JUDGE; n += 1) {
    shop.count += 1;
    assert.equal(await shop.deliver(`order-${shop.count}`), 200);
  }
  await until(() => handled() === before + ENOUGH_TO_JUDGE, { what: 'the messages of the window' });
}
