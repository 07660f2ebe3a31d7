// Checkpoints, wired into the host: made on a schedule and when asked for, one at a time. The code is loaded by the first one.
import { resolve } from 'node:path';
import type { Checkpoints } from '../../shared/api/recovery/checkpoint.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import { CONFIG_FILE, type ProjectPaths, projectPaths } from '../../shared/files/paths.ts';
import {
  failedCheckpoint,
  type NewestCheckpoint,
  newestCheckpoint,
  storedCheckpoint,
  storedCheckpoints,
} from '../../shared/recovery/stored-checkpoints.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { type Core, reasonOf } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { SnapshotWriter } from '../database/unit.ts';
import type { NewEvent } from '../events/event-types.ts';
import { linkKeyIn } from '../files/file-links.ts';
import type { Caller } from '../http/api/caller.ts';
import type { CheckpointsApi } from '../http/api/checkpoints-api.ts';
import type { CheckpointFigures } from '../metrics/checkpoint-metrics.ts';
import type { Made } from '../recovery/checkpoint/make-checkpoint.ts';
import { differsText, failureFor, lastFor, manifestOf, shownOf } from './checkpoint-answers.ts';
import { Rehearsals } from './rehearsals.ts';

export interface RecoveryDeps {
  readonly core: Core;
  readonly project: string;
  readonly mode: Mode;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The database file. */
  readonly file: string;
  readonly writer: SnapshotWriter;
  /** What the host serves. */
  readonly loaded: () => LoadedConfig;
  /** Loaded code that has changed on the disk. */
  readonly changedFiles: () => readonly string[];
  /** Every secret that was ever in use. */
  readonly secrets: () => Iterable<string>;
  readonly tell: (event: NewEvent) => Promise<void>;
}

/** After a start, what the start was for comes first. */
const FIRST_LOOK_MS = 60_000;
const HOUR_MS = 3_600_000;
const SHORTEST_WAIT_MS = 1_000;

interface Making {
  readonly name: string;
  copiedBytes: number;
  totalBytes: number;
}

interface Asked {
  readonly actor: string;
  readonly reason: string | null;
}

export class RecoveryHost {
  readonly #deps: RecoveryDeps;
  readonly #paths: ProjectPaths;
  readonly #rehearsals: Rehearsals;
  readonly #stop = new AbortController();
  readonly #failures = new Map<string, number>();
  #since = 0;
  #timer: Timer | undefined;
  #retryAt = 0;
  #next: number | undefined;
  /** Ends with the making that is under way. Never rejects. */
  #ended: Promise<unknown> | undefined;
  #making: Making | undefined;
  #last: Checkpoints['last'] = null;
  #failure: Checkpoints['failure'] = null;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    this.#paths = projectPaths(deps.project);
    this.#rehearsals = new Rehearsals({ ...deps, days: () => deps.loaded().config.recovery.verifyDays });
  }

  /** Called once the database is open. */
  start(): void {
    this.#since = this.#deps.core.clock.now();
    this.#wait(FIRST_LOOK_MS);
  }

  /** Gives up the checkpoint that is being made, and a verification. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#stop.abort(new SvcError('draining', 'the host is stopping: no checkpoint was made'));
    await this.#ended;
    await this.#rehearsals.stop();
  }

  readonly api: CheckpointsApi = {
    list: async (texts) => ({
      checkpoints: storedCheckpoints(this.#deps.project).map((one) => shownOf(one, texts)),
      running: this.#making ?? null,
      last: this.#last === null ? null : lastFor(this.#last, texts),
      failure: this.#failure === null ? null : failureFor(this.#failure, texts),
      next: this.#next === undefined ? null : new Date(this.#next).toISOString(),
    }),
    show: async (name, texts) => {
      const found = storedCheckpoint(this.#deps.project, name);
      if (found === undefined) throw new SvcError('not_found', 'there is no checkpoint of this name');
      return { ...shownOf(found, texts), ...manifestOf(found, texts) };
    },
    create: (caller: Caller, { reason }) =>
      this.#begin({ actor: caller.actor, reason }).begun.then((name) => ({ name })),
    plan: (name) => this.#rehearsals.plan(name),
    verify: async (caller: Caller, name, { quick }) => this.#rehearsals.begin({ name, quick, actor: caller.actor }),
  };

  /** For status. Null before the first. */
  newest(): NewestCheckpoint | null {
    return newestCheckpoint(this.#deps.project);
  }

  /** Undefined before the database is open. */
  async figures(): Promise<CheckpointFigures | undefined> {
    if (this.#since === 0) return undefined;
    const all = storedCheckpoints(this.#deps.project);
    const good = all.filter(({ fault }) => fault === undefined);
    const begun = await this.#firstStart().catch(() => this.#since);
    const secondsSince = (time: string | undefined): number =>
      Math.max(0, this.#deps.core.clock.now() - (time === undefined ? begun : Date.parse(time))) / 1_000;
    const parts = new Map(
      all.flatMap(({ name, manifest }) =>
        (manifest?.parts ?? []).map(({ path, bytes }) => [path.startsWith('files/') ? path : `${name}/${path}`, bytes]),
      ),
    );
    return {
      ageSeconds: secondsSince(good[0]?.manifest?.createdAt),
      verifiedSeconds: secondsSince(good.find(({ level }) => level === 'rehearsed')?.verification?.at),
      bytes: [...parts.values()].reduce((sum, bytes) => sum + bytes, 0),
      failures: this.#failures,
      failed: failedCheckpoint(all) === undefined ? 0 : 1,
      verifyFailures: this.#rehearsals.failures,
    };
  }

  /** One at a time. `begun` rejects if the checkpoint was refused before it had a number; `ended` never rejects. */
  #begin(asked: Asked): { readonly begun: Promise<string>; readonly ended: Promise<Made | undefined> } {
    if (this.#ended !== undefined) {
      const busy = new SvcError('conflict', 'a checkpoint is being made: one at a time', {
        hint: 'GET /api/checkpoints shows how far it is',
      });
      return { begun: Promise.reject(busy), ended: Promise.resolve(undefined) };
    }
    let isBegun: (name: string) => void = () => {};
    let isRefused: (error: unknown) => void = () => {};
    const begun = new Promise<string>((resolve, reject) => {
      isBegun = resolve;
      isRefused = reject;
    });
    begun.catch(() => {}); // told to the caller of `create` alone
    const ended = this.#make(asked, isBegun)
      .catch(async (error: unknown) => {
        await this.#failed(error);
        isRefused(error);
        return undefined;
      })
      .finally(() => {
        this.#ended = undefined;
        this.#making = undefined;
      });
    this.#ended = ended;
    return { begun, ended };
  }

  async #make({ actor, reason }: Asked, onBegun: (name: string) => void): Promise<Made> {
    const { core, project, file, writer, tell } = this.#deps;
    const { makeRunning } = await import('../recovery/checkpoint/make-running.ts');
    const { differing, ...facts } = await this.#facts();
    const made = await makeRunning({
      ...facts,
      project,
      database: file,
      reason,
      key: linkKeyIn(this.#paths.linkKey).toString('base64url'),
      now: () => core.clock.now(),
      writer,
      signal: this.#stop.signal,
      onBegun: (name) => {
        this.#making = { name, copiedBytes: 0, totalBytes: 0 };
        onBegun(name);
      },
      onProgress: ({ copied, of }) => {
        if (this.#making !== undefined) Object.assign(this.#making, { copiedBytes: copied, totalBytes: of });
      },
      point: core.point,
    });
    const { manifest, secretHits, bytes, ms } = made;
    const warnings = [...differsText(differing), ...made.warnings];
    const holdMs = Math.round(made.holdMs);
    const { name } = manifest;
    this.#last = { name, bytes, ms, holdMs, secretHits, warnings };
    core.log.info({ checkpoint: name, bytes, ms, holdMs, warnings, secretHits }, 'checkpoint made');
    const data = { name, bytes, ms, holdMs, reason };
    await tell({
      type: 'checkpoint.created',
      at: core.clock.now(),
      runtimeId: core.runtimeId,
      subject: name,
      actor,
      data,
    });
    await this.#copyOut(name);
    await this.#prune();
    return made;
  }

  /** Configuration and secrets, of the file and of what is served. */
  async #facts() {
    const { project, mode, environment, loaded, changedFiles, secrets } = this.#deps;
    const { knownSecrets } = await import('../../shared/recovery/known-secrets.ts');
    const served = loaded();
    let file: LoadedConfig | undefined;
    try {
      file = loadConfig({ project, mode, environment });
    } catch {
      // kept as it is; the next start would refuse it
    }
    const { schedule, recovery } = served.config;
    const differing = [...(file?.version === served.version ? [] : [CONFIG_FILE]), ...changedFiles()];
    return {
      differing,
      zone: schedule.timezone,
      maxLogBytes: recovery.maxLogBytes,
      config: {
        version: file?.version ?? 'invalid',
        isRunning: differing.length === 0,
      },
      secrets: knownSecrets(file ?? served, [...served.secrets, ...secrets()]),
      without: [this.#copyTo()].filter((folder) => folder !== undefined),
    };
  }

  async #failed(error: unknown, name = this.#making?.name ?? null): Promise<void> {
    const { core, tell } = this.#deps;
    const { code, hint = null } = coerceError(error);
    if (code === 'draining') return;
    const at = core.clock.now();
    this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1);
    this.#failure = { name, at: new Date(at).toISOString(), code, message: reasonOf(core, error), hint };
    core.log.error({ err: error, checkpoint: name }, 'no checkpoint was made');
    await tell({
      type: 'checkpoint.failed',
      at,
      runtimeId: core.runtimeId,
      subject: name ?? undefined,
      data: { name, code },
    });
  }

  #copyTo(): string | undefined {
    const { copyTo } = this.#deps.loaded().config.recovery;
    return copyTo === undefined ? undefined : resolve(this.#deps.project, copyTo);
  }

  /** A failure is told like one of the making; the checkpoint itself is there. */
  async #copyOut(name: string): Promise<void> {
    const to = this.#copyTo();
    if (to === undefined) return;
    const { copyOut } = await import('../recovery/checkpoint/copy-out.ts');
    await copyOut({ project: this.#deps.project, to, name }).catch((error: unknown) => this.#failed(error, name));
  }

  async #prune(): Promise<void> {
    const { core, project, loaded, tell } = this.#deps;
    const { pruneCheckpoints } = await import('../recovery/checkpoint/remove-checkpoints.ts');
    try {
      const to = this.#copyTo();
      const { removed, identities } = await pruneCheckpoints({
        project,
        rules: loaded().config.recovery,
        now: core.clock.now(),
        point: core.point,
      });
      for (const name of removed)
        await tell({
          type: 'checkpoint.pruned',
          at: core.clock.now(),
          runtimeId: core.runtimeId,
          subject: name,
          data: { name },
        });
      if (to !== undefined && identities.length > 0)
        await (await import('../recovery/checkpoint/copy-out.ts')).removeCopies({ to, removed: identities });
    } catch (error) {
      core.log.warn({ err: error }, 'old checkpoints were not removed: tried again after the next one');
    }
  }

  /** Also where no checkpoint is made, and before one is made: it needs the room. */
  async #pruneReplaced(): Promise<void> {
    const { core, project, loaded } = this.#deps;
    const { pruneReplaced } = await import('../recovery/restore/remove-replaced.ts');
    try {
      const days = loaded().config.recovery.replacedDays;
      const replaced = pruneReplaced({ project, days, now: core.clock.now() });
      if (replaced.length > 0) core.log.info({ replaced }, 'old replaced states removed');
    } catch (error) {
      core.log.warn({ err: error }, 'old replaced states were not removed: tried again in an hour');
    }
  }

  /** Of copies that a kill has cut. */
  async #removeUnfinished(): Promise<void> {
    const to = this.#copyTo();
    if (to === undefined) return;
    const { core } = this.#deps;
    const { removeUnfinished } = await import('../recovery/checkpoint/copy-out.ts');
    try {
      await removeUnfinished({ to, project: core.projectId });
    } catch (error) {
      core.log.warn({ err: error, to }, 'copies that were cut were not removed: tried again in an hour');
    }
  }

  #wait(delayMs: number): void {
    this.#timer = this.#deps.core.clock.after(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#deps.core;
    try {
      if (this.#ended === undefined) await this.#pruneReplaced();
      if (this.#ended === undefined) await this.#removeUnfinished();
      this.#next = await this.#dueTime();
      if (this.#next !== undefined && this.#next <= clock.now() && this.#ended === undefined) {
        const made = await this.#begin({ actor: 'schedule', reason: null }).ended;
        this.#retryAt = made === undefined ? clock.now() + HOUR_MS : 0;
        this.#next = await this.#dueTime();
      }
      this.#rehearsals.look();
    } catch (error) {
      log.warn({ err: error }, 'the schedule of checkpoints could not be read: tried again in an hour');
    }
    const untilNext = (this.#next ?? Number.POSITIVE_INFINITY) - clock.now();
    if (!this.#stop.signal.aborted) this.#wait(Math.min(HOUR_MS, Math.max(SHORTEST_WAIT_MS, untilNext)));
  }

  async #dueTime(): Promise<number | undefined> {
    const { core, project, loaded } = this.#deps;
    const { schedule, recovery } = loaded().config;
    const { nextCheckpoint } = await import('../recovery/schedule.ts');
    const [newest] = storedCheckpoints(project);
    const known = newest?.manifest === undefined ? await this.#firstStart() : Date.parse(newest.manifest.createdAt);
    const last = known > core.clock.now() ? this.#since : known; // a clock that was set back would put the next one off for as long
    const due = await nextCheckpoint({ ...recovery, zone: schedule.timezone }, last);
    return due === undefined ? undefined : Math.max(due, this.#retryAt);
  }

  /** The ledger keeps the newest 1,000 starts. */
  async #firstStart(): Promise<number> {
    const first = sql.selectFrom('starts').select('at').orderBy('at').limit(1);
    return (await this.#deps.core.reader.first(first))?.at ?? this.#since;
  }
}
