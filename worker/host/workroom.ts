// The Workroom, wired: its part for plugins, its API, its due rows, and its proofs. Nothing of it is loaded on a host that is none.
import type { Verification } from '../../shared/api/workroom.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { ProjectPaths } from '../../shared/files/paths.ts';
import type { ProjectId } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import type { RunPart } from '../handling/run/run-part.ts';
import type { WorkroomApi } from '../http/api/workroom-api.ts';
import type { WorkroomFigures } from '../metrics/workroom-metrics.ts';
import type { JournalFact } from '../readiness/evaluate.ts';
import { DRAIN_LIMIT_MS } from '../runtime/generations/generation.ts';
import type { Workroom as WorkroomPart } from '../sdk/workroom.ts';
import type { TimerService } from '../timers/timer-service.ts';
import type { Figures } from '../workroom/figures.ts';
import type { Journal } from '../workroom/journal/journal.ts';

const HOUR_MS = 3_600_000;
const PLAN_AGAIN_MS = 60_000;
/** Runs of a former generation have ended by then. */
const FORMER_RUNS_MS = DRAIN_LIMIT_MS + 5_000;
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
  readonly paths: ProjectPaths;
  /** The full name of an account. */
  readonly endpoint: (name: string) => string;
}

export class WorkroomHost {
  readonly #deps: WorkroomDeps;
  #loading: Promise<Loaded> | undefined;
  #journal: Journal | undefined;
  /** The configuration names another store than that of the state. */
  refused: SvcError | undefined;
  #last: Verification | undefined;
  #verifying: Promise<Verification> | undefined;
  #timer: Timer | undefined;
  #noted = 0;
  /** Head of the journal at the start. */
  #begin: number | undefined;
  #figures: Figures | undefined;
  #stopped = false;
  #planning: Promise<void> = Promise.resolve();
  #nextPlan: Timer | undefined;

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
    return this.#isWorkroom ? this.#lazyApi : undefined;
  }

  /** The project of files whose database was made anew. `known`: that of the database. */
  async adopted(known: ProjectId): Promise<ProjectId> {
    if (!this.#isWorkroom) return known;
    const { adoptProject } = await import('../workroom/index.ts');
    const { core, paths } = this.#deps;
    return ((await adoptProject(core, paths.workroomJournal, known)) ?? known) as ProjectId;
  }

  /** Completes the journal, before anything is taken in. Throws only what the database throws. */
  async open(): Promise<void> {
    if (!this.#isWorkroom || this.#journal !== undefined) return;
    const { core, config, paths } = this.#deps;
    const { openJournal } = await import('../workroom/index.ts');
    const { workroomJournal: folder, workroomCatalog: catalogFile } = paths;
    const { store } = config().workroom;
    try {
      this.#journal = await openJournal({ core, store, folder, catalogFile, reminding: workroomSettings(config()) });
      this.refused = undefined;
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'config_invalid') throw error;
      this.refused = error;
    }
  }

  /** For readiness. Undefined on a host that is no Workroom. */
  get journal(): JournalFact | undefined {
    if (!this.#isWorkroom) return undefined;
    const fault = this.refused ?? this.#journal?.damage;
    if (fault !== undefined) return { kind: 'closed', reason: fault.message, remedy: fault.hint ?? '' };
    return { kind: this.#journal === undefined ? 'opening' : 'open' };
  }

  get #isWorkroom(): boolean {
    return this.#deps.config().host.kind === 'workroom';
  }

  /** Called once the database is open and the timers are connected. */
  start(): void {
    this.#deps.timers().on(
      'workroom',
      async (row) => (await this.#load()).workroom.fire(row),
      // Rows that cannot be fired would keep those behind them from their turn.
      () => this.#journal?.damage === undefined,
    );
    this.#planDues({ hasFormerRuns: false });
    if (this.#isWorkroom) void this.#prove();
  }

  /** Deadlines follow the settings of the configuration. Called after each reload. */
  reloaded(): void {
    this.#planDues({ hasFormerRuns: true });
  }

  #planDues(look: { readonly hasFormerRuns: boolean }): void {
    this.#nextPlan?.cancel();
    if (this.#isWorkroom && !this.#stopped) this.#planning = this.#planning.then(() => this.#plan(look));
  }

  async #plan({ hasFormerRuns }: { readonly hasFormerRuns: boolean }): Promise<void> {
    const { core, config, timers } = this.#deps;
    const again = (ms: number, look: { readonly hasFormerRuns: boolean }): void => {
      if (this.#stopped) return;
      this.#nextPlan?.cancel();
      this.#nextPlan = core.clock.after(ms, () => this.#planDues(look), { background: true });
    };
    try {
      const { planDues } = await this.#load();
      const reminding = workroomSettings(config());
      const due = (at: number): void => timers().expect(at);
      const isPlanned = await planDues({ core, reminding, due, isStopped: () => this.#stopped, hasFormerRuns });
      if (!isPlanned) again(FORMER_RUNS_MS, { hasFormerRuns: false });
    } catch (error) {
      if (this.#stopped) return;
      core.log.warn({ err: error }, 'items of the Workroom are not planned for the settings: tried again in a minute');
      again(PLAN_AGAIN_MS, { hasFormerRuns });
    }
  }

  /** Completes the files. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#nextPlan?.cancel();
    await this.#planning;
    await this.#journal?.stop();
  }

  /** For metrics. Undefined on a host that is no Workroom. */
  async figures(): Promise<WorkroomFigures | undefined> {
    if (this.api === undefined) return undefined;
    const { Figures, workroom, journal } = await this.#load();
    this.#figures ??= new Figures(this.#deps.core, { workroom, source: journal, begin: await this.#beginning() });
    const isProven = this.#last === undefined ? undefined : this.#last.faults.length === 0;
    return this.#figures.read(journal.damage === undefined ? isProven : false);
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
    erase: async (caller, of) => (await this.#load()).admin.erase(caller, of),
    verify: () => this.#verify(),
  };

  async #load(): Promise<Loaded> {
    if (this.#isWorkroom && this.#journal === undefined)
      throw this.refused ?? new SvcError('storage_unavailable', 'the journal of the Workroom is not open yet');
    this.#loading ??= load(this.#deps, this.#journal, {
      verify: () => this.#verify(),
      last: () => this.#last,
    });
    return this.#loading;
  }

  /** One proof at a time. */
  #verify(): Promise<Verification> {
    this.#verifying ??= this.#load()
      .then(({ scrub, journal }) => scrub(this.#deps.core, journal))
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
  { core, config, timers, paths, endpoint }: WorkroomDeps,
  opened: Journal | undefined,
  proofs: { readonly verify: () => Promise<Verification>; readonly last: () => Verification | undefined },
) {
  const { Workroom, DatabaseJournal, workroomPart, createWorkroomAdmin, scrub, noteHead, readHead, Figures, planDues } =
    await import('../workroom/index.ts');
  const journal = opened ?? new DatabaseJournal(core.reader);
  const due = (at: number): void => timers().expect(at);
  const workroom = new Workroom(core, () => workroomSettings(config()), { due, journal });
  const { verify, last: lastVerification } = proofs;
  const place = { folder: paths.workroomJournal, catalogFile: paths.workroomCatalog };
  const admin = createWorkroomAdmin({ core, workroom, source: journal, place, verify, lastVerification, endpoint });
  return { workroom, admin, journal, part: workroomPart(core, workroom), scrub, noteHead, readHead, Figures, planDues };
}

/** Settings of the board, from the configuration. */
export function workroomSettings({ workroom }: LoadedConfig['config']) {
  const { stuckHours, remindHours, maxTextBytes } = workroom;
  return { stuckMs: stuckHours * HOUR_MS, remindMs: remindHours * HOUR_MS, maxTextBytes };
}
