// One run: a host lives, is stopped, and the commands of an operator are killed at their steps, again and again. After each kill the state that lies
// there is judged, and the next try has to end well.
import { existsSync, readdirSync } from 'node:fs';
import { checkpointFolder } from '../../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../../shared/recovery/manifest.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import type { Random } from '../../crash/kit/random.ts';
import { type KillOptions, type Ran, RecoveryProject } from './recovery-project.ts';
import { isSame, readState, type StoredState } from './stored-state.ts';

const MAKE_POINTS = ['checkpoint.begun', 'checkpoint.copied', 'checkpoint.whole', 'checkpoint.renamed'] as const;
const BEFORE_THE_SWITCH = ['restore.staged', 'restore.prepared'] as const;
const IN_THE_SWITCH = ['restore.decided', 'restore.renamed', 'restore.renamed', 'restore.finished'] as const;
/** More than a restore of this project has: where there are fewer, nothing is killed. */
const RENAMES = 5;
/** From the start of a command to behind its end, on a slow machine. */
const MOMENT_MS = 1_500;
/** Kills of one operation before it may end. */
const MOST_IN_A_ROW = 3;

export interface KillRunOptions {
  readonly random: Random;
  readonly kills: number;
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string;
}

type Operation = 'restore' | 'undo';

export class KillRun {
  readonly faults: string[] = [];
  /** How often each step was killed. */
  readonly byStep = new Map<string, number>();
  kills = 0;
  readonly #of: RecoveryProject;
  readonly #random: Random;
  readonly #wanted: number;
  readonly #epochs = new Set<string>();
  readonly #parked = new Set<string>();
  #messages = 0;
  #cycles = 0;

  static async create(t: Cleanup, { plant, ...options }: KillRunOptions): Promise<KillRun> {
    return new KillRun(await RecoveryProject.create(t, { plant }), options);
  }

  private constructor(of: RecoveryProject, { random, kills }: Omit<KillRunOptions, 'plant'>) {
    this.#of = of;
    this.#random = random;
    this.#wanted = kills;
  }

  summary(): string {
    const steps = [...this.byStep]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([step, count]) => `${step} ${count}`);
    return `${this.kills} kills in ${this.#cycles} cycles (${steps.join(', ')}), ${this.#messages} messages, ${this.#of.shown('tick')} runs of a job, ${this.faults.length} faults`;
  }

  async run(): Promise<void> {
    while (this.kills < this.#wanted) await this.cycle();
  }

  /** A host lives and is stopped; a checkpoint; the host lives on; the checkpoint is restored, the restore undone, and the host lives again. */
  async cycle(): Promise<void> {
    const of = this.#of;
    this.#cycles += 1;
    of.changeJobs();
    await of.start();
    await this.#messagesHandled(2);
    if (this.#random.chance(0.5)) await this.#makeRunning();
    await of.stop();
    const name = await this.#makeStopped();
    const kept = readState(of.project.paths);
    this.#epochs.add(kept.epoch);
    of.changeJobs();
    await of.start();
    await of.svc(['jobs', 'run', 'tick']); // refused while its minute runs
    await this.#messagesHandled(2);
    await of.done('ingress', 'pause');
    await this.#park();
    await of.stop();
    if (this.#random.chance(0.4)) await this.#verify(name);
    const before = readState(of.project.paths);
    await this.#switchStates('restore', { name, kept, before });
    if (this.#random.chance(0.3)) await this.#resumed();
    else if (this.#random.chance(0.7)) {
      const restored = readState(of.project.paths);
      await this.#switchStates('undo', { name: this.#newestReplaced(), kept: before, before: restored });
    }
    await this.#resumed();
  }

  async #messagesHandled(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      this.#messages += 1;
      await this.#of.deliver(`m${this.#messages}`);
    }
    await this.#of.idle();
  }

  async #park(): Promise<void> {
    this.#messages += 1;
    const text = `m${this.#messages}`;
    await this.#of.deliver(text);
    this.#parked.add(`evt_${text}`);
  }

  /** The host lives again: what was parked is handled, everything comes once more, and nothing is handled again. */
  async #resumed(): Promise<void> {
    const of = this.#of;
    await of.start();
    await of.done('ingress', 'resume');
    await of.idle();
    await of.repeat();
    await of.stop();
    this.#parked.clear();
    const where = `after cycle ${this.#cycles}`;
    this.faults.push(...of.wrongAnswers.map((wrong) => `${where}: ${wrong}`));
    this.faults.push(...of.platform.faults.splice(0));
    const state = readState(of.project.paths);
    // A run that a restore forgot is carried out again.
    const ticks = of.shown('tick');
    if (ticks > state.jobRuns) this.faults.push(`${where}: ${ticks} answers of a job in ${state.jobRuns} runs`);
    this.#judgeWhole(state, where);
    for (const [id, one] of Object.entries(state.deliveries))
      if (one !== 'done') this.faults.push(`${where}: ${id} is ${one}`);
  }

  /** Of the running host, which is killed. */
  async #makeRunning(): Promise<void> {
    const of = this.#of;
    await of.stop();
    const point = this.#random.pick([...MAKE_POINTS]);
    await of.start({ failpoints: `${point}=kill` });
    await of.idle();
    const before = this.#names();
    await of.svc(['checkpoint', 'create']);
    if (!of.hasEnded) this.faults.push(`the host passed ${point} and lives`);
    await of.kill();
    this.#killed(`host at ${point}`);
    await this.#judgeMade(before, { isWhole: point === 'checkpoint.renamed', where: `host at ${point}` });
    await of.start();
    await this.#messagesHandled(1);
    await of.done('checkpoint', 'create');
  }

  async #makeStopped(): Promise<string> {
    const of = this.#of;
    const state = readState(of.project.paths);
    for (let row = 0; row < 2 && this.#random.chance(0.7); row += 1) {
      const point = this.#random.pick([...MAKE_POINTS]);
      const before = this.#names();
      const ran = await this.#kill(['checkpoint', 'create'], { failpoints: `${point}=kill` }, point);
      if (ran.signal === null) this.faults.push(`${point}: not killed: ${ran.stdout}${ran.stderr}`);
      await this.#judgeMade(before, { isWhole: point === 'checkpoint.renamed', where: point });
      if (!isSame(state, readState(of.project.paths))) this.faults.push(`${point}: the state has changed`);
    }
    const { name } = await of.done('checkpoint', 'create');
    return String(name);
  }

  async #verify(name: string): Promise<void> {
    const of = this.#of;
    const state = readState(of.project.paths);
    await this.#kill(['checkpoint', 'verify', name], { afterMs: this.#random.between(0, MOMENT_MS) }, 'verify');
    if (!isSame(state, readState(of.project.paths))) this.faults.push(`verify: the state has changed`);
    await this.#judgeCommands('verify');
    await of.done('checkpoint', 'verify', name);
    const listed = (await this.#listed()).find((one) => one.name === name);
    if (listed?.level !== 'rehearsed') this.faults.push(`verify: ${name} is ${listed?.level}`);
    if (existsSync(of.project.paths.rehearsalDir)) this.faults.push('verify: the rehearsal is still there');
  }

  async #judgeMade(
    before: readonly string[],
    { isWhole, where }: { readonly isWhole: boolean; readonly where: string },
  ) {
    const made = this.#names().filter((one) => !before.includes(one));
    if (made.length !== (isWhole ? 1 : 0)) this.faults.push(`${where}: ${made.join() || 'nothing'} was made`);
    for (const name of made) await this.#of.done('checkpoint', 'verify', name, '--quick');
    await this.#judgeCommands(where);
  }

  /** Kills a restore or an undo until it has ended, and judges after each kill. */
  async #switchStates(
    operation: Operation,
    { name, kept, before }: { readonly name: string; readonly kept: StoredState; readonly before: StoredState },
  ): Promise<void> {
    const of = this.#of;
    const head = operation === 'restore' ? this.#manifest(name).events.head : kept.head;
    const judge = (where: string): 'old' | 'new' => {
      const state = readState(of.project.paths);
      if (isSame(state, before)) return 'old';
      this.#judgeNew(state, { operation, name, kept, head, before, where });
      return 'new';
    };
    for (let row = 0; ; row += 1) {
      const mayEnd = row >= MOST_IN_A_ROW || this.#random.chance(0.2);
      const { label, ...how } = mayEnd ? { label: 'no kill' } : this.#drawn(row);
      const args = await this.#agreed(operation, name);
      const ran = await this.#kill(args, how, `${operation} at ${label}`);
      const where = `${operation} at ${label}`;
      if (ran.signal === null && ran.code !== 0)
        return void this.faults.push(`${where}: ${ran.code} ${ran.stdout}${ran.stderr}`);
      await this.#judgeCommands(where);
      if (existsSync(of.project.paths.pendingSwitch)) {
        await this.#finish(where);
        if (judge(where) === 'old') this.faults.push(`${where}: the old state is there behind the end of the switch`);
        return;
      }
      const found = judge(where);
      if (ran.signal === null && found === 'old') this.faults.push(`${where}: it ended, and the old state is there`);
      if (/staged|prepared/.test(label) && found === 'new') this.faults.push(`${where}: the new state is there`);
      if (found === 'new') return;
    }
  }

  #drawn(row: number): KillOptions & { readonly label: string } {
    if (this.#random.chance(0.15)) {
      const afterMs = this.#random.between(MOMENT_MS / 5, MOMENT_MS);
      return { label: 'a moment', afterMs };
    }
    const points = row === 0 && this.#random.chance(0.6) ? BEFORE_THE_SWITCH : IN_THE_SWITCH;
    const point = this.#random.pick([...points] as [string, ...string[]]);
    const pass = point === 'restore.renamed' ? this.#random.between(1, RENAMES) : 1;
    return { label: `${point}@${pass}`, failpoints: `${point}=kill@${pass}` };
  }

  /** The arguments of a restore whose plan was read before. */
  async #agreed(operation: Operation, name: string): Promise<readonly string[]> {
    const what = operation === 'restore' ? name : '--undo';
    const { digest } = await this.#of.done('checkpoint', 'restore', what, '--dry-run');
    return ['checkpoint', 'restore', what, '--yes', '--plan', String(digest)];
  }

  /** A switch that is pending is finished by the command or by a start, and both may be killed too. */
  async #finish(where: string): Promise<void> {
    const of = this.#of;
    const refused = await of.svc(['checkpoint', 'create']);
    if (refused.code === 0 || !refused.stderr.includes('restore --finish'))
      this.faults.push(
        `${where}: a checkpoint is made while the switch is pending: ${refused.stdout}${refused.stderr}`,
      );
    for (let row = 0; row < 2 && this.#random.chance(0.5); row += 1) {
      const point = this.#random.pick(['switch.renamed', 'switch.finished']);
      await this.#kill(['checkpoint', 'restore', '--finish'], { failpoints: `${point}=kill` }, `finish at ${point}`);
      await this.#judgeCommands(`${where}, finish at ${point}`);
    }
    if (this.#random.chance(0.3)) {
      const isPending = existsSync(of.project.paths.pendingSwitch);
      const again = await of.start();
      if (again !== (isPending ? 1 : 0)) this.faults.push(`${where}: the start ended with 75 ${again} times`);
      await of.stop();
    } else await of.done('checkpoint', 'restore', '--finish');
    if (existsSync(of.project.paths.pendingSwitch)) this.faults.push(`${where}: the switch is still pending`);
  }

  #judgeNew(
    state: StoredState,
    {
      operation,
      name,
      kept,
      head,
      before,
      where,
    }: {
      readonly operation: Operation;
      readonly name: string;
      readonly kept: StoredState;
      readonly head: number;
      readonly before: StoredState;
      readonly where: string;
    },
  ): void {
    const told = (what: string): void => void this.faults.push(`${where}: ${what}`);
    this.#judgeWhole(state, where);
    if (this.#epochs.has(state.epoch) || state.epoch === before.epoch) told('the epoch is one of before');
    this.#epochs.add(state.epoch);
    if (state.revision !== kept.revision) told(`jobs have revision ${state.revision}, not ${kept.revision}`);
    // A start that finished the switch has told of itself.
    if (state.head < head || state.lastEvent < head) told(`the last event is ${state.head}, not ${head}`);
    if (head > 0 && state.head > head + 20) told(`the last event is ${state.head}: the events of before are there`);
    const last = state.restores.at(-1);
    if (last?.source !== name || last.purpose !== operation) told(`its last restore is ${JSON.stringify(last)}`);
    if (state.restores.length !== before.restores.length + 1) told(`it knows ${state.restores.length} restores`);
    if (state.sends['pending'] !== undefined) told('a send is open again');
  }

  #judgeWhole(state: StoredState, where: string): void {
    const told = (what: string): void => void this.faults.push(`${where}: ${what}`);
    if (state.integrity !== 'ok') told(`integrity: ${state.integrity}`);
    if (state.head !== state.lastEvent) told(`the counter of events is ${state.head}, the last is ${state.lastEvent}`);
    for (const id of this.#of.acknowledged.keys()) {
      const expected = this.#parked.has(id) ? 'received' : 'done';
      if (state.deliveries[id] !== expected) told(`${id} is ${state.deliveries[id] ?? 'lost'}, not ${expected}`);
    }
  }

  /** What an operator is told while nothing runs. */
  async #judgeCommands(where: string): Promise<void> {
    const of = this.#of;
    const listed = await this.#listed();
    const names = listed.map(({ name }) => name).sort();
    if (names.join() !== this.#names().join()) this.faults.push(`${where}: the list has ${names.join()}`);
    for (const { name, fault } of listed)
      if (fault !== null) this.faults.push(`${where}: ${name} is damaged: ${fault}`);
    const status = await of.svc(['runtime', 'status', '--json']);
    const { state } = JSON.parse(status.stdout) as { state: string };
    if (status.code !== 3 || state !== 'stopped') this.faults.push(`${where}: runtime status: ${status.code} ${state}`);
    const release = await of.svc(['release', 'status', '--json']);
    if (release.code !== 0 || release.stdout.trim() !== 'null')
      this.faults.push(`${where}: release status: ${release.code} ${release.stdout}${release.stderr}`);
  }

  async #listed(): Promise<
    readonly { readonly name: string; readonly level: string; readonly fault: string | null }[]
  > {
    return (await this.#of.done('checkpoint', 'list'))['checkpoints'] as never;
  }

  #names(): readonly string[] {
    const { checkpointsDir } = this.#of.project.paths;
    return existsSync(checkpointsDir)
      ? readdirSync(checkpointsDir)
          .filter((one) => /^c\d+$/.test(one))
          .sort()
      : [];
  }

  #newestReplaced(): string {
    const { replacedDir } = this.#of.project.paths;
    const numbers = readdirSync(replacedDir).filter((one) => existsSync(`${replacedDir}/${one}/data.sqlite`));
    return `s${Math.max(...numbers.map((one) => Number(one.slice(1))))}`;
  }

  #manifest(name: string): Manifest {
    return readManifest(checkpointFolder(this.#of.project.path, name));
  }

  async #kill(args: readonly string[], how: KillOptions, label: string): Promise<Ran> {
    const ran = await this.#of.svc(args, how);
    if (ran.signal !== null) this.#killed(label.replace(/@\d+$/, ''));
    return ran;
  }

  #killed(label: string): void {
    this.kills += 1;
    this.byStep.set(label, (this.byStep.get(label) ?? 0) + 1);
  }
}
