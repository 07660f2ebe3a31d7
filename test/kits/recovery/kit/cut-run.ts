// One run: a project on a disk of its own, whose power is cut while a checkpoint of it is restored. What lies there after the mount is the old state,
// or the new one, or a switch that ends in the new one. Nothing here mends it before it is judged.
import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '../../../support/disk/loop-disk.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import type { Random } from '../../crash/kit/random.ts';
import { CutDisk } from './cut-disk.ts';
import { type Ran, RecoveryProject } from './recovery-project.ts';
import { isSame, readState, type StoredState } from './stored-state.ts';

const POINTS = [
  'restore.prepared=kill',
  'restore.decided=kill',
  'restore.renamed=kill@1',
  'restore.renamed=kill@2',
  'restore.renamed=kill@3',
  'restore.renamed=kill@4',
  'restore.finished=kill',
] as const;
/** From the first file of the staged state to behind the end of the restore. */
const MOMENT_MS = 150;
/** So often a host starts behind a cut. */
const HOST_EACH = 10;

export interface CutRunOptions {
  readonly random: Random;
  readonly fileSystem: FileSystem;
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string;
}

export class CutRun {
  readonly faults: string[] = [];
  readonly byEnd = new Map<string, number>();
  cuts = 0;
  readonly #of: RecoveryProject;
  readonly #random: Random;
  readonly #disk: CutDisk;
  readonly #fileSystem: FileSystem;
  readonly #epochs = new Set<string>();
  /** Revision of the jobs file in the checkpoint. */
  #kept = 0;

  static async create(t: Cleanup, { random, fileSystem, plant }: CutRunOptions): Promise<CutRun> {
    const of = await RecoveryProject.create(t, { plant });
    const run = new CutRun(of, { random, fileSystem, disk: new CutDisk(t, of, fileSystem) });
    await run.#live();
    return run;
  }

  private constructor(
    of: RecoveryProject,
    { random, fileSystem, disk }: { readonly random: Random; readonly fileSystem: FileSystem; readonly disk: CutDisk },
  ) {
    this.#of = of;
    this.#random = random;
    this.#fileSystem = fileSystem;
    this.#disk = disk;
  }

  summary(): string {
    const ends = [...this.byEnd]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([end, count]) => `${end} ${count}`);
    return `${this.#fileSystem}: ${this.cuts} cuts (${ends.join(', ')}), ${this.faults.length} faults`;
  }

  /** A message in the checkpoint, one since, and one that is parked. */
  async #live(): Promise<void> {
    const of = this.#of;
    await of.start();
    await of.deliver('then');
    await of.idle();
    await of.stop();
    await of.done('checkpoint', 'create');
    this.#kept = readState(of.project.paths).revision;
    await of.start();
    await of.deliver('since');
    await of.idle();
    await of.done('ingress', 'pause');
    await of.deliver('parked');
    await of.stop();
  }

  async cut(): Promise<void> {
    const of = this.#of;
    this.#change();
    const before = readState(of.project.paths);
    this.#epochs.add(before.epoch);
    const { digest } = await of.done('checkpoint', 'restore', 'c1', '--dry-run');
    const args = ['checkpoint', 'restore', 'c1', '--yes', '--plan', String(digest)];
    const { ran, label } = this.#random.chance(0.5) ? await this.#atPoint(args) : await this.#atMoment(args);
    this.cuts += 1;
    const where = `cut ${this.cuts}, ${label}`;
    const isPending = existsSync(of.project.paths.pendingSwitch);
    const found = isPending ? await this.#finish(where) : readState(of.project.paths);
    const end = isSame(found, before) ? 'old' : 'new';
    this.byEnd.set(isPending ? 'finished' : end, (this.byEnd.get(isPending ? 'finished' : end) ?? 0) + 1);
    if (end === 'old' && (isPending || ran.code === 0 || label.includes('finished')))
      this.faults.push(`${where}: the restore is undone by the cut`);
    if (end === 'new') this.#judgeNew(found, where);
    await this.#judgeCommands(where);
    if (this.cuts % HOST_EACH === 0) await this.#host(where);
  }

  async #atPoint(args: readonly string[]): Promise<{ readonly ran: Ran; readonly label: string }> {
    const point = this.#random.pick([...POINTS] as [string, ...string[]]);
    const ran = await this.#disk.atPoint(args, point);
    if (ran.code !== null && ran.code !== 0) this.faults.push(`${point}: ${ran.code} ${ran.stderr}`);
    return { ran, label: ran.code === 0 ? 'behind the end' : point };
  }

  async #atMoment(args: readonly string[]): Promise<{ readonly ran: Ran; readonly label: string }> {
    const file = join(this.#of.project.paths.stateDir, 'restoring.part', 'data.sqlite');
    const ms = this.#random.between(0, MOMENT_MS);
    return { ran: await this.#disk.atMoment(args, { file, ms }), label: `${ms} ms after the stage began` };
  }

  /** By the command, or by a start of the host. */
  async #finish(where: string): Promise<StoredState> {
    const of = this.#of;
    if (this.#random.chance(0.8)) await of.done('checkpoint', 'restore', '--finish');
    else {
      const again = await of.start();
      if (again !== 1) this.faults.push(`${where}: the start ended with 75 ${again} times`);
      await of.stop();
    }
    return readState(of.project.paths);
  }

  #judgeNew(state: StoredState, where: string): void {
    const told = (what: string): void => void this.faults.push(`${where}: ${what}`);
    if (this.#epochs.has(state.epoch)) told('the epoch is one of before');
    if (state.revision !== this.#kept) told(`jobs have revision ${state.revision}, not ${this.#kept}`);
    if (state.integrity !== 'ok') told(`integrity: ${state.integrity}`);
    if (state.head !== state.lastEvent) told(`the counter of events is ${state.head}, the last is ${state.lastEvent}`);
    if (state.restores.at(-1)?.source !== 'c1') told('it knows of no restore');
    for (const id of this.#of.acknowledged.keys()) if (state.deliveries[id] === undefined) told(`${id} is lost`);
  }

  async #judgeCommands(where: string): Promise<void> {
    const { checkpoints } = (await this.#of.done('checkpoint', 'list')) as {
      readonly checkpoints: readonly { readonly name: string; readonly fault: string | null }[];
    };
    const told = checkpoints.map(({ name, fault }) => `${name} ${fault ?? 'whole'}`).join();
    if (told !== 'c1 whole') this.faults.push(`${where}: the list has ${told || 'nothing'}`);
    const status = await this.#of.svc(['runtime', 'status', '--json']);
    if (status.code !== 3) this.faults.push(`${where}: runtime status: ${status.code} ${status.stdout}`);
  }

  /** The host serves, and has handled everything once. */
  async #host(where: string): Promise<void> {
    const of = this.#of;
    await of.start();
    await of.done('ingress', 'resume');
    await of.idle();
    await of.repeat();
    await of.stop();
    this.faults.push(...of.wrongAnswers.map((wrong) => `${where}: ${wrong}`));
  }

  /** The present state is another one than that of the checkpoint, on the disk. */
  #change(): void {
    const { project } = this.#of;
    this.#of.changeJobs();
    const file = openSync(join(project.paths.dataDir, 'schedule-jobs.json'), 'r+');
    fsyncSync(file);
    closeSync(file);
    rmSync(join(project.path, 'worker.log'), { force: true });
  }
}
