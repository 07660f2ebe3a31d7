// One run: a Workroom on a disk of its own, people at a board, and power that is cut again and again. After each cut the journal is judged as it lies
// on the disk, before any host may mend it.
import { createHash } from 'node:crypto';
import { verifyStored } from '../../../../worker/workroom/journal/verify-stored.ts';
import { type FileSystem, LoopDisk } from '../../../support/disk/loop-disk.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import type { Random } from '../../crash/kit/random.ts';
import { logTail, WorkerLife } from '../../crash/kit/worker-life.ts';
import { type JournalStore, readStored, type StoredEvent, type StoredJournal } from './stored-journal.ts';
import { WorkroomLoad } from './workroom-load.ts';

const PEOPLE = 16;
const READY_LIMIT_MS = 120_000;
/** Some thirty events. */
const SEGMENT_BYTES = '16384';
/** Acknowledgements of a life before the moment of its cut is drawn. */
const LEAST_OF_A_LIFE = 20;

export interface WorkroomRunOptions {
  readonly random: Random;
  readonly fileSystem: FileSystem;
  readonly store: JournalStore;
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string;
}

export class WorkroomRun {
  readonly faults: string[] = [];
  cuts = 0;
  readonly #options: WorkroomRunOptions;
  readonly #project: TemporaryProject;
  readonly #disk: LoopDisk;
  readonly #load: WorkroomLoad;
  readonly #api: HostApi;
  #life: WorkerLife | undefined;
  /** The end of the journal as the last judgement found it. */
  #head = { seq: 0, hash: '' };
  #judged = 0;

  static async create(t: Cleanup, options: WorkroomRunOptions): Promise<WorkroomRun> {
    const run = new WorkroomRun(t, options, await freePort());
    t.after(() => run.#end());
    run.#start();
    await run.#ready();
    await run.#load.post('board', { kind: 'board.add', board: 'web', name: 'Web site' });
    run.#load.begin(PEOPLE);
    return run;
  }

  private constructor(t: Cleanup, options: WorkroomRunOptions, port: number) {
    this.#options = options;
    this.#project = temporaryProject(t, {
      config: {
        host: { name: 'cut', kind: 'workroom' },
        log_level: 'warn',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        http: { port, token: '${HTTP_TOKEN}' },
        disk: { minFreeBytes: 0 },
        workroom: { store: options.store },
        plugins: { work: {} },
      },
      prefix: 'svc-workroom-cut-',
    });
    this.#disk = new LoopDisk(t, this.#project.paths.stateDir, undefined, options.fileSystem);
    const url = `http://127.0.0.1:${port}`;
    this.#load = new WorkroomLoad(url, this.#project.token);
    this.#api = new HostApi(url, this.#project.token);
  }

  get acknowledged(): number {
    return this.#load.acknowledged.length;
  }

  get events(): number {
    return this.#head.seq;
  }

  /** A life, a cut under load, and what the disk has after it. */
  async cut(): Promise<void> {
    if (this.#life === undefined) this.#start();
    await this.#ready();
    const enough = this.acknowledged + LEAST_OF_A_LIFE;
    this.#load.open();
    await until(
      () => {
        if (this.#life?.end !== undefined) throw new Error(`the worker ended:\n${logTail(this.#project.path)}`);
        return this.acknowledged >= enough || this.#load.faults.length > 0;
      },
      { what: 'commands to be acknowledged', timeoutMs: READY_LIMIT_MS },
    );
    await new Promise((resolve) => setTimeout(resolve, this.#options.random.between(1, 100)));
    // Frozen first: without power nothing is answered.
    const cutPower = await this.#disk.arm();
    this.#life?.freeze();
    await cutPower();
    this.#load.shut();
    await this.#life?.kill();
    this.#life = undefined;
    await this.#load.settled();
    this.#disk.unmount();
    this.#disk.mount();
    this.cuts += 1;
    await this.judge();
  }

  /** Adds to `faults` what is not as it has to be. */
  async judge(): Promise<void> {
    const { path, env } = this.#project;
    const { faults } = await verifyStored({ project: path, environment: env });
    const where = `after cut ${this.cuts}`;
    for (const { fault, seq, stream } of faults) this.faults.push(`${where}: verify: ${fault} ${seq} ${stream}`);
    const stored = readStored(this.#project.paths.stateDir, this.#options.store);
    for (const fault of stored.faults) this.faults.push(`${where}: ${fault}`);
    this.#judgeChain(stored, where);
    this.#judgeAcknowledged(stored.events.slice(0, stored.kept), where);
    for (const fault of this.#load.faults.splice(0)) this.faults.push(`${where}: ${fault}`);
  }

  /** By hand: a proof that has forgotten to look would agree with itself. */
  #judgeChain({ events: rows, projectId }: StoredJournal, where: string): void {
    let hash = sha256(`svc.journal/1\n${projectId}`);
    for (const [index, row] of rows.entries()) {
      const { actor, at, cause, data, id, kind, stream, version } = row;
      const digest = sha256(
        JSON.stringify({ actor, at, cause, data: JSON.parse(data), id, kind, stream, v: 1, version }),
      );
      hash = sha256(`svc.journal/1\n${hash}\n${index + 1}\n${digest}`);
      if (row.seq !== index + 1 || row.hash !== hash) {
        this.faults.push(`${where}: event ${index + 1} does not continue the chain`);
        break;
      }
      if (row.seq === this.#head.seq && row.hash !== this.#head.hash)
        this.faults.push(`${where}: event ${row.seq} is another one than before the cut`);
    }
    if (rows.length < this.#head.seq) this.faults.push(`${where}: ${rows.length} events, ${this.#head.seq} before`);
    this.#head = { seq: rows.length, hash: rows.at(-1)?.hash ?? '' };
  }

  #judgeAcknowledged(rows: readonly StoredEvent[], where: string): void {
    const byKey = new Map<string, StoredEvent>();
    for (const row of rows) {
      // http/<who>/<key>/<digest of the command>/<event of it>
      const key = /^http\/[^/]+\/([^/]+)\/[\da-f]+\/1$/.exec(row.id)?.[1];
      if (key === undefined) continue;
      if (byKey.has(key)) this.faults.push(`${where}: ${key} was carried out twice`);
      byKey.set(key, row);
    }
    for (const { key, stream, version } of this.#load.acknowledged) {
      const row = byKey.get(key);
      if (row === undefined) this.faults.push(`${where}: ${key} was acknowledged and is lost`);
      else if (row.stream !== stream || row.version !== version)
        this.faults.push(`${where}: ${key} is ${row.stream} ${row.version}, acknowledged as ${stream} ${version}`);
    }
    this.#judged = this.#load.acknowledged.length;
  }

  summary(): string {
    const { fileSystem, store } = this.#options;
    return `${fileSystem}, ${store}: ${this.cuts} cuts, ${this.#judged} commands acknowledged, ${this.events} events, ${this.faults.length} faults`;
  }

  #start(): void {
    const { plant } = this.#options;
    this.#life = new WorkerLife(this.#project.path, { plant, environment: { SVC_SEGMENT_BYTES: SEGMENT_BYTES } });
  }

  async #ready(): Promise<void> {
    await until(
      async () => {
        if (this.#life?.end !== undefined) throw new Error(`the worker ended:\n${logTail(this.#project.path)}`);
        return this.#api.isReady();
      },
      { what: 'the host to be ready', timeoutMs: READY_LIMIT_MS },
    );
  }

  async #end(): Promise<void> {
    this.#load.end();
    await this.#life?.kill();
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
