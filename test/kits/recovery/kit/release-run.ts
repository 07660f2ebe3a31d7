// One run: a release is begun, checked, started and rolled back under a daemon, and the commands that switch the code are killed at the steps of the
// switch. Code and data are of one version afterwards, and what was acknowledged meanwhile is handled once.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listReleases, type ReleaseRecord } from '../../../../shared/recovery/release-record.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import type { Random } from '../../crash/kit/random.ts';
import { RecoveryProject } from './recovery-project.ts';
import { readState } from './stored-state.ts';

const START_POINTS = ['switch.decided', 'switch.renamed', 'switch.finished'] as const;
const ROLLBACK_POINTS = ['restore.staged', 'restore.prepared', 'restore.decided', 'switch.renamed', 'restore.finished'];
/** Of the code; with those of the data a rollback has some more. */
const RENAMES = 6;
const VERSION_FILE = 'version.txt';

export class ReleaseRun {
  readonly faults: string[] = [];
  readonly byStep = new Map<string, number>();
  kills = 0;
  releases = 0;
  readonly #of: RecoveryProject;
  readonly #random: Random;
  #messages = 0;
  /** Folder of the new code. */
  readonly #next: string;

  static async create(t: Cleanup, { random }: { readonly random: Random }): Promise<ReleaseRun> {
    const of = await RecoveryProject.create(t);
    const next = mkdtempSync(join(tmpdir(), 'svc-next-'));
    t.after(() => rmSync(next, { recursive: true, force: true }));
    const run = new ReleaseRun(of, random, next);
    // Before the folder goes: hooks run in the order in which they were made.
    t.after(() => run.#end());
    await of.done('runtime', 'start', '--daemon', '--timeout', '120');
    return run;
  }

  private constructor(of: RecoveryProject, random: Random, next: string) {
    this.#of = of;
    this.#random = random;
    this.#next = next;
    of.project.write(VERSION_FILE, 'A');
    for (const name of ['svc.config.yml', 'package.json', 'package-lock.json'])
      writeFileSync(join(next, name), of.project.read(name));
    mkdirSync(join(next, 'docs'));
    writeFileSync(join(next, 'docs', 'new.md'), 'of the new version\n');
    writeFileSync(join(next, VERSION_FILE), 'B');
  }

  summary(): string {
    const steps = [...this.byStep]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([step, count]) => `${step} ${count}`);
    return `${this.kills} kills in ${this.releases} releases (${steps.join(', ')}), ${this.#messages} messages, ${this.faults.length} faults`;
  }

  /** There and back. */
  async release(): Promise<void> {
    const of = this.#of;
    this.releases += 1;
    await this.#deliver();
    await of.idle();
    await of.done('release', 'begin', '--from', this.#next);
    await of.done('release', 'check');
    await this.#deliver();
    await this.#killed('start', [...START_POINTS], 'started');
    this.#judge('B', 'started');
    await this.#deliver();
    if (this.#random.chance(0.5)) {
      await of.done('release', 'accept', '--reason', 'as tried');
      await of.done('release', 'observe');
      await of.idle();
    }
    await this.#killed('rollback', ROLLBACK_POINTS, 'rolled_back');
    this.#judge('A', 'rolled_back');
    await of.idle();
    await of.repeat();
    this.faults.push(...of.wrongAnswers.map((wrong) => `release ${this.releases}: ${wrong}`));
  }

  async #deliver(): Promise<void> {
    this.#messages += 1;
    await this.#of.deliver(`m${this.#messages}`);
  }

  /** Kills the step up to two times, then lets it end. */
  async #killed(step: 'start' | 'rollback', points: readonly string[], state: ReleaseRecord['state']): Promise<void> {
    const of = this.#of;
    const args = ['release', step, ...(step === 'rollback' ? ['--yes'] : [])];
    for (let row = 0; row < 2; row += 1) {
      const point = this.#random.pick([...points] as [string, ...string[]]);
      const pass = point.endsWith('renamed') ? this.#random.between(1, RENAMES) : 1;
      const where = `release ${step} at ${point}@${pass}`;
      const ran = await of.svc(args, { failpoints: `${point}=kill@${pass}` });
      if (ran.signal === null) {
        if (ran.code !== 0) this.faults.push(`${where}: ${ran.code} ${ran.stdout}${ran.stderr}`);
        break;
      }
      this.kills += 1;
      const label = `${step} at ${point}`;
      this.byStep.set(label, (this.byStep.get(label) ?? 0) + 1);
      await this.#judgeCommands(where);
    }
    await this.#again(step, args);
    if (this.#record()?.state !== state) this.faults.push(`release ${step}: the record is ${this.#record()?.state}`);
    await until(() => of.api.isReady(), { what: 'the host to be ready' });
  }

  /** The second try. A switch that is pending is finished by it, by the command for that, or by a start of the host. */
  async #again(step: string, args: readonly string[]): Promise<void> {
    const of = this.#of;
    if (existsSync(of.project.paths.pendingSwitch)) {
      const by = this.#random.pick(['step', 'finish', 'worker', 'daemon']);
      if (by === 'finish') await of.done('checkpoint', 'restore', '--finish');
      if (by === 'daemon') await of.done('runtime', 'start', '--daemon', '--timeout', '120');
      if (by === 'worker') {
        if ((await of.start()) !== 1) this.faults.push(`release ${step}: no start ended with 75`);
        await of.stop();
      }
    }
    const last = await of.svc(args);
    if (last.code === 0) return;
    this.faults.push(`release ${step} after a kill: ${last.code} ${last.stdout}${last.stderr}`);
    throw new Error(this.faults.join('\n'));
  }

  #judge(version: 'A' | 'B', where: string): void {
    const { project } = this.#of;
    const found = project.read(VERSION_FILE);
    if (found !== version) this.faults.push(`${where}: the code is ${found}`);
    if (existsSync(join(project.path, 'docs')) !== (version === 'B'))
      this.faults.push(`${where}: files of the other code`);
    if (existsSync(project.paths.pendingSwitch)) this.faults.push(`${where}: a switch is pending`);
    const state = readState(project.paths);
    if (state.integrity !== 'ok') this.faults.push(`${where}: integrity: ${state.integrity}`);
    for (const id of this.#of.acknowledged.keys())
      if (state.deliveries[id] === undefined) this.faults.push(`${where}: ${id} is lost`);
  }

  async #judgeCommands(where: string): Promise<void> {
    const of = this.#of;
    const release = await of.svc(['release', 'status', '--json']);
    const told = JSON.parse(release.stdout) as Partial<ReleaseRecord>;
    if (told.state !== this.#record()?.state)
      this.faults.push(`${where}: release status: ${release.code} ${release.stdout}${release.stderr}`);
    const { checkpoints } = (await of.done('checkpoint', 'list')) as {
      readonly checkpoints: readonly { readonly fault: string | null }[];
    };
    for (const { fault } of checkpoints)
      if (fault !== null) this.faults.push(`${where}: a checkpoint is damaged: ${fault}`);
    const status = await of.svc(['runtime', 'status', '--json']);
    const { state } = JSON.parse(status.stdout) as { readonly state: string };
    if ((state === 'stopped') !== !(await of.api.isReady())) this.faults.push(`${where}: runtime status says ${state}`);
  }

  #record(): ReleaseRecord | undefined {
    return listReleases(this.#of.project.path).at(-1);
  }

  async #end(): Promise<void> {
    await this.#of.svc(['runtime', 'stop']);
  }
}
