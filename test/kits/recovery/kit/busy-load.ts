// All that writes, at once and without a pause: people at a board, messages that are answered, jobs that are run by hand, and a job that is changed.
// Each waits for its answer before it goes on, over a connection that stays open, so the machine sets the rate.
import { until } from '../../../support/until.ts';
import { WorkroomLoad } from '../../workroom/kit/workroom-load.ts';

const AT_THE_BOARD = 24;
const WRITING = 24;
const RUNNING = 4;
const REFUSED = 500;
/** A job whose run is open, and a file that has changed: as in any host. */
const CONFLICT = 409;
const MINUTES = 60;
const TARGET = { endpoint: 'sandbox', conversation: 'jobs' };

/** What was acknowledged at one time: all of it is in a checkpoint that is asked for afterwards. */
export interface Acknowledged {
  /** Version by stream of the journal. */
  readonly versions: ReadonlyMap<string, number>;
  readonly messages: number;
  readonly runs: number;
  readonly jobChanges: number;
}

export class BusyLoad {
  readonly #url: string;
  readonly #token: string;
  readonly #board: WorkroomLoad;
  readonly #faults: string[] = [];
  readonly #counts = { messages: 0, runs: 0, jobChanges: 0 };
  #hasEnded = false;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#board = new WorkroomLoad(url, token, { keepsConnections: true });
  }

  get faults(): readonly string[] {
    return [...this.#faults, ...this.#board.faults];
  }

  acknowledged(): Acknowledged {
    const versions = new Map<string, number>();
    for (const { stream, version } of this.#board.acknowledged)
      versions.set(stream, Math.max(version, versions.get(stream) ?? 0));
    return { versions, ...this.#counts };
  }

  async begin(): Promise<void> {
    await this.#board.post('board', { kind: 'board.add', board: 'web', name: 'Web site' });
    for (let index = 0; index < RUNNING; index += 1) await this.#put(`run-${index}`, 0);
    this.#board.begin(AT_THE_BOARD);
    this.#board.open();
    for (let person = 0; person < WRITING; person += 1) void this.#lane((turn) => this.#say(person, turn));
    for (let index = 0; index < RUNNING; index += 1) void this.#lane(() => this.#run(`run-${index}`));
    void this.#lane((turn) => this.#put('changing', turn));
  }

  /** Until each kind of writing has gone on. */
  async goesOn(): Promise<void> {
    const before = this.acknowledged();
    await this.#board.reaches(this.#board.acknowledged.length + AT_THE_BOARD);
    const hasChanged = () => this.#counts.jobChanges > before.jobChanges || this.#faults.length > 0;
    await until(hasChanged, { what: 'a changed job', everyMs: 20 });
  }

  end(): void {
    this.#hasEnded = true;
    this.#board.end();
  }

  async #lane(work: (turn: number) => Promise<void>): Promise<void> {
    try {
      for (let turn = 1; !this.#hasEnded; turn += 1) await work(turn);
    } catch (error) {
      if (!this.#hasEnded) this.#faults.push(String(error));
    }
  }

  async #say(person: number, turn: number): Promise<void> {
    const said = { person: `p${person}`, text: `/echo ${turn}`, delivery: `${person}-${turn}` };
    if (await this.#ask('POST', '/api/chat/say', said)) this.#counts.messages += 1;
  }

  async #run(job: string): Promise<void> {
    if (await this.#ask('POST', `/api/jobs/${job}/run`)) this.#counts.runs += 1;
  }

  async #put(job: string, turn: number): Promise<void> {
    const body = { cron: `${turn % MINUTES} 4 * * *`, do: { say: { to: TARGET, text: `${job} ${turn}` } } };
    if (await this.#ask('PUT', `/api/jobs/${job}`, body)) this.#counts.jobChanges += 1;
  }

  /** False where the host takes nothing now, or somebody else was first. */
  async #ask(method: string, path: string, body?: object): Promise<boolean> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && response.status < REFUSED && response.status !== CONFLICT)
      this.#faults.push(`${method} ${path}: ${response.status} ${text}`);
    return response.ok;
  }
}
