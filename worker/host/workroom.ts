// The Workroom, wired: its part for plugins, its API, its due rows, and its proofs. Nothing of it is loaded on a host that is none.
import type { Verification } from '../../shared/api/workroom.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { Timer } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import type { RunPart } from '../handling/run/run-part.ts';
import type { WorkroomApi } from '../http/api/workroom-api.ts';
import type { WorkroomFigures } from '../metrics/workroom-metrics.ts';
import type { Workroom as WorkroomPart } from '../sdk/workroom.ts';
import type { TimerService } from '../timers/timer-service.ts';
import type { Figures } from '../workroom/figures.ts';

const HOUR_MS = 3_600_000;
const NAMES = [
  'do',
  'item',
  'list',
  'board',
  'boards',
  'me',
  'join',
] as const satisfies readonly (keyof WorkroomPart)[];

type Loaded = Awaited<ReturnType<typeof load>>;

export interface WorkroomDeps {
  readonly core: Core;
  readonly config: () => LoadedConfig['config'];
  readonly timers: () => TimerService;
  /** The full name of an account. */
  readonly endpoint: (name: string) => string;
}

export class WorkroomHost {
  readonly #deps: WorkroomDeps;
  #loading: Promise<Loaded> | undefined;
  #last: Verification | undefined;
  #verifying: Promise<Verification> | undefined;
  #timer: Timer | undefined;
  #noted = 0;
  /** Head of the journal at the start. */
  #begin: number | undefined;
  #figures: Figures | undefined;
  #stopped = false;

  constructor(deps: WorkroomDeps) {
    this.#deps = deps;
  }

  /** `ctx.workroom`. The code is loaded by the first call of a run. */
  readonly part: RunPart = (run) => {
    let made: Promise<WorkroomPart> | undefined;
    const surface = (): Promise<WorkroomPart> => {
      made ??= this.#load().then(({ part }) => part(run) as WorkroomPart);
      return made;
    };
    return Object.fromEntries(
      NAMES.map((name) => [
        name,
        async (...given: unknown[]) => {
          const method = (await surface())[name] as (...of: unknown[]) => unknown;
          return method(...given);
        },
      ]),
    );
  };

  /** Undefined on a host that is no Workroom. */
  get api(): WorkroomApi | undefined {
    return this.#deps.config().host.kind === 'workroom' ? this.#lazyApi : undefined;
  }

  /** Called once the database is open and the timers are connected. */
  start(): void {
    this.#deps.timers().on('workroom', async (row) => (await this.#load()).workroom.fire(row));
    if (this.#deps.config().host.kind === 'workroom') void this.#prove();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** For metrics. Undefined on a host that is no Workroom. */
  async figures(): Promise<WorkroomFigures | undefined> {
    if (this.api === undefined) return undefined;
    const { Figures, workroom } = await this.#load();
    this.#figures ??= new Figures(this.#deps.core, workroom, await this.#beginning());
    return this.#figures.read(this.#last === undefined ? undefined : this.#last.faults.length === 0);
  }

  readonly #lazyApi: WorkroomApi = {
    overview: async () => (await this.#load()).admin.overview(),
    items: async (asked) => (await this.#load()).admin.items(asked),
    item: async (id, texts) => (await this.#load()).admin.item(id, texts),
    boards: async (texts) => (await this.#load()).admin.boards(texts),
    members: async (texts) => (await this.#load()).admin.members(texts),
    events: async (asked) => (await this.#load()).admin.events(asked),
    command: async (caller, command, asked) => (await this.#load()).admin.command(caller, command, asked),
    code: async (caller, member) => (await this.#load()).admin.code(caller, member),
    verify: () => this.#verify(),
  };

  #load(): Promise<Loaded> {
    this.#loading ??= load(this.#deps, {
      verify: () => this.#verify(),
      last: () => this.#last,
    });
    return this.#loading;
  }

  /** One proof at a time. */
  #verify(): Promise<Verification> {
    this.#verifying ??= this.#load()
      .then(({ scrub }) => scrub(this.#deps.core))
      .then((result) => {
        this.#last = result;
        return result;
      })
      .finally(() => {
        this.#verifying = undefined;
      });
    return this.#verifying;
  }

  async #beginning(): Promise<number> {
    if (this.#begin === undefined) {
      const { readHead } = await this.#load();
      this.#begin = (await readHead(this.#deps.core.reader)).seq;
    }
    return this.#begin;
  }

  /** Proves the journal at the start and every `verifyHours`. The head is noted in log and events each hour in which it moved. */
  async #prove(): Promise<void> {
    const { core, config } = this.#deps;
    const lastAt = this.#last === undefined ? 0 : Date.parse(this.#last.at);
    try {
      await this.#beginning();
      if (core.clock.now() - lastAt >= config().workroom.verifyHours * HOUR_MS) await this.#verify();
      const { noteHead } = await this.#load();
      this.#noted = await noteHead(core, this.#noted);
    } catch (error) {
      core.log.warn({ err: error }, 'the journal of the Workroom could not be proven: tried again in an hour');
    }
    if (!this.#stopped) this.#timer = core.clock.after(HOUR_MS, () => void this.#prove(), { background: true });
  }
}

async function load(
  { core, config, timers, endpoint }: WorkroomDeps,
  proofs: { readonly verify: () => Promise<Verification>; readonly last: () => Verification | undefined },
) {
  const { Workroom, workroomPart, createWorkroomAdmin, scrub, noteHead, readHead, Figures } = await import(
    '../workroom/index.ts'
  );
  const settings = () => {
    const { stuckHours, remindHours, maxTextBytes } = config().workroom;
    return { stuckMs: stuckHours * HOUR_MS, remindMs: remindHours * HOUR_MS, maxTextBytes };
  };
  const workroom = new Workroom(core, settings, (at) => timers().expect(at));
  const admin = createWorkroomAdmin({ core, workroom, verify: proofs.verify, lastVerification: proofs.last, endpoint });
  return { workroom, admin, part: workroomPart(core, workroom), scrub, noteHead, readHead, Figures };
}
