// One run: a project on a disk of its own, whose power is cut while a release exchanges its code, or takes it back with its data. What lies there after
// the mount is one version or the other, each file of it whole, or a switch that ends in the other one. Nothing here mends it before it is judged.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { STAYING } from '../../../../shared/files/paths.ts';
import { listReleases, type ReleaseRecord, releaseFolder } from '../../../../shared/recovery/release-record.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import type { Random } from '../../crash/kit/random.ts';
import { CutDisk } from './cut-disk.ts';
import type { CutRunOptions } from './cut-run.ts';
import { RecoveryProject } from './recovery-project.ts';
import { readState } from './stored-state.ts';

const IN_THE_SWITCH = ['switch.decided', 'switch.renamed', 'switch.renamed', 'switch.finished'] as const;
const BEFORE_THE_SWITCH = ['restore.staged', 'restore.prepared'] as const;
/** Of the code of this project; a rollback moves the data too. */
const RENAMES = { start: 16, rollback: 20 } as const;
/** Nothing begins a host behind the switch: that would outlive the power. */
const AT_THE_END = 'switch.finished=kill';
const MOMENT_MS = 20;
/** Cuts of one step, which ends without one then. */
const MOST_IN_A_ROW = 5;
/** Enough for a write that is not synced to be lost in part. */
const LARGE = 300_000;
/** Makes what no version has in its source, as a compiler does. */
const BUILD = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
mkdirSync('dist/deep', { recursive: true });
const version = readFileSync('version.txt', 'utf8');
for (let n = 0; n < 20; n += 1) writeFileSync('dist/deep/' + n + '.js', (version + n + ';').repeat(5000));
`;

type Operation = 'start' | 'rollback';

export class CodeCutRun {
  readonly faults: string[] = [];
  readonly byEnd = new Map<string, number>();
  cuts = 0;
  #releases = 0;
  #messages = 0;
  readonly #of: RecoveryProject;
  readonly #random: Random;
  readonly #disk: CutDisk;
  readonly #fileSystem: string;
  /** Folder of the new code. */
  readonly #next: string;

  static async create(t: Cleanup, { random, fileSystem, plant }: CutRunOptions): Promise<CodeCutRun> {
    const of = await RecoveryProject.create(t, { plant });
    const next = mkdtempSync(join(tmpdir(), 'svc-next-'));
    t.after(() => rmSync(next, { recursive: true, force: true }));
    writeVersion(of.project.path, 'A');
    for (const name of ['package.json', 'package-lock.json', 'svc.config.yml'])
      writeFileSync(join(next, name), of.project.read(name).replace('"1.0.0"', '"2.0.0"'));
    writeVersion(next, 'B');
    const run = new CodeCutRun(of, { random, next, fileSystem, disk: new CutDisk(t, of, fileSystem) });
    await of.start();
    await run.#deliver();
    await of.idle();
    await of.stop();
    return run;
  }

  private constructor(
    of: RecoveryProject,
    made: {
      readonly random: Random;
      readonly next: string;
      readonly fileSystem: string;
      readonly disk: CutDisk;
    },
  ) {
    this.#of = of;
    this.#random = made.random;
    this.#next = made.next;
    this.#fileSystem = made.fileSystem;
    this.#disk = made.disk;
  }

  summary(): string {
    const ends = [...this.byEnd]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([end, count]) => `${end} ${count}`);
    return `${this.#fileSystem}: ${this.cuts} cuts in ${this.#releases} releases (${ends.join(', ')}), ${this.#messages} messages, ${this.faults.length} faults`;
  }

  /** There and back, with a host at each end that has handled everything once. */
  async release(): Promise<void> {
    const of = this.#of;
    this.#releases += 1;
    const before = codeOf(of.project.path);
    await of.done('release', 'begin', '--from', this.#next);
    await of.done('release', 'check');
    const after = codeOf(join(releaseFolder(of.project.path, this.#name()), 'next'));
    await this.#cutUntilDone('start', { from: before, to: after });
    await this.#ends('start', 'started', after);
    await this.#deliver();
    await of.done('runtime', 'stop');
    await this.#cutUntilDone('rollback', { from: after, to: before });
    await this.#ends('rollback', 'rolled_back', before);
    await of.idle();
    await of.repeat();
    await of.done('runtime', 'stop');
    this.faults.push(...of.wrongAnswers.map((wrong) => `release ${this.#releases}: ${wrong}`));
  }

  async #deliver(): Promise<void> {
    this.#messages += 1;
    await this.#of.deliver(`m${this.#messages}`);
  }

  /** Cuts the step until the other code is there; the next try, which finishes a switch, is cut too. */
  async #cutUntilDone(
    operation: Operation,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<void> {
    const { path, paths } = this.#of.project;
    let isDecided = false;
    for (let row = 0; row < MOST_IN_A_ROW; row += 1) {
      const isEnd = isDecided;
      const label = await this.#cut(operation, isEnd);
      const where = `cut ${this.cuts}, release ${operation} at ${label}`;
      const wasDecided = isDecided || !isBefore(label);
      await this.#judgeCommands(where);
      isDecided = existsSync(paths.pendingSwitch);
      if (isDecided && !wasDecided) this.faults.push(`${where}: it was not decided, and a switch is pending`);
      if (isDecided && this.#random.chance(0.3)) await this.#of.done('checkpoint', 'restore', '--finish');
      const isPending = existsSync(paths.pendingSwitch);
      const found = isPending ? 'pending' : codeOf(path);
      this.#count(found === from ? 'old' : isDecided ? 'decided' : 'new');
      if (isPending) continue;
      if (found !== from && found !== to) throw this.#broken(`${where}: ${difference(path, { from, to })}`);
      // A switch is seen a moment before its name is on the disk: such a cut may leave nothing of it.
      const mayBeUndone = !isEnd && label.includes(' ms after');
      if (found === from && wasDecided && !mayBeUndone)
        this.faults.push(`${where}: the exchange of code is undone by the cut`);
      if (found === to && !wasDecided) this.faults.push(`${where}: it was not decided, and the other code is there`);
      this.#judgeState(where);
      if (found === to) return;
    }
  }

  #count(end: string): void {
    this.byEnd.set(end, (this.byEnd.get(end) ?? 0) + 1);
  }

  /** `isDecided`: what is cut is the end of a switch. */
  async #cut(operation: Operation, isDecided: boolean): Promise<string> {
    const args = ['release', operation, ...(operation === 'rollback' ? ['--yes'] : [])];
    this.cuts += 1;
    if (!isDecided && this.#random.chance(0.3)) {
      const ms = this.#random.between(0, MOMENT_MS);
      const file = this.#of.project.paths.pendingSwitch;
      await this.#disk.atMoment(args, { file, ms, failpoints: AT_THE_END });
      return `${ms} ms after it was decided`;
    }
    const isEarly = operation === 'rollback' && !isDecided && this.#random.chance(0.25);
    const point = this.#random.pick([...(isEarly ? BEFORE_THE_SWITCH : IN_THE_SWITCH)] as [string, ...string[]]);
    const pass = point === 'switch.renamed' ? this.#random.between(1, RENAMES[operation]) : 1;
    const failpoints = point === 'switch.finished' ? AT_THE_END : `${point}=kill@${pass},${AT_THE_END}`;
    const ran = await this.#disk.atPoint(args, failpoints);
    if (ran.signal === null)
      throw this.#broken(`release ${operation} at ${point}: ${ran.code} ${ran.stdout}${ran.stderr}`);
    return `${point}@${pass}`;
  }

  /** The second try ends well: the host serves with this code. */
  async #ends(operation: Operation, state: ReleaseRecord['state'], code: string): Promise<void> {
    const of = this.#of;
    const where = `release ${operation} after ${this.cuts} cuts`;
    const ran = await of.svc(['release', operation, ...(operation === 'rollback' ? ['--yes'] : [])]);
    if (ran.code !== 0) throw this.#broken(`${where}: ${ran.code} ${ran.stdout}${ran.stderr}`);
    await until(() => of.api.isReady(), { what: 'the host to be ready' });
    const found = listReleases(of.project.path).at(-1)?.state;
    if (found !== state) this.faults.push(`${where}: the record is ${found}`);
    if (codeOf(of.project.path) !== code) this.faults.push(`${where}: the code is another one`);
    if (existsSync(of.project.paths.pendingSwitch)) this.faults.push(`${where}: a switch is pending`);
    this.#judgeState(where);
  }

  #judgeState(where: string): void {
    const state = readState(this.#of.project.paths);
    if (state.integrity !== 'ok') this.faults.push(`${where}: integrity: ${state.integrity}`);
    for (const id of this.#of.acknowledged.keys())
      if (state.deliveries[id] === undefined) this.faults.push(`${where}: ${id} is lost`);
  }

  async #judgeCommands(where: string): Promise<void> {
    const ran = await this.#of.svc(['release', 'status', '--json']);
    const { state } = JSON.parse(ran.stdout || '{}') as Partial<ReleaseRecord>;
    if (ran.code !== 0 || state !== listReleases(this.#of.project.path).at(-1)?.state)
      this.faults.push(`${where}: release status: ${ran.code} ${ran.stdout}${ran.stderr}`);
    const status = await this.#of.svc(['runtime', 'status', '--json']);
    if (status.code !== 3) this.faults.push(`${where}: runtime status: ${status.code} ${status.stdout}`);
  }

  #broken(fault: string): Error {
    this.faults.push(fault);
    return new Error(this.faults.slice(0, 10).join('\n'));
  }

  #name(): string {
    return listReleases(this.#of.project.path).at(-1)?.name ?? '';
  }
}

const isBefore = (label: string): boolean => BEFORE_THE_SWITCH.some((point) => label.startsWith(point));

function writeVersion(folder: string, version: 'A' | 'B'): void {
  const files = {
    'version.txt': version,
    'build.mjs': BUILD,
    'src/main.js': `// ${version}\n`.repeat(LARGE / 5),
    [`src/deep/only-${version}.js`]: version,
    [`of-${version}/notes.md`]: version,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, scripts: { build: 'node build.mjs' } }));
}

/** Names and digests of all files of the code, a line each. */
function codeOf(folder: string): string {
  const lines = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !STAYING.has(path.split('/', 1)[0] ?? '') && path !== 'worker.log')
    .map(
      (path) =>
        `${path} ${createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex')}`,
    );
  return lines.sort().join('\n');
}

/** Lines that neither version has, or that the nearer one lacks. */
function difference(folder: string, { from, to }: { readonly from: string; readonly to: string }): string {
  const found = codeOf(folder).split('\n');
  const off = [from, to].map((one) => {
    const lines = new Set(one.split('\n'));
    return [...found.filter((line) => !lines.has(line)), ...[...lines].filter((line) => !found.includes(line))];
  });
  const [nearer = []] = off.sort((one, other) => one.length - other.length);
  return `it is neither version: ${nearer.slice(0, 5).join(', ')}`;
}
