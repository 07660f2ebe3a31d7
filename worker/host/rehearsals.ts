// Verifications of checkpoints by the running host: when asked for, and of the newest each `recovery.verifyDays`. And plans of a restore. One of each
// at a time, in a process of its own.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { projectPaths } from '../../shared/files/paths.ts';
import { CHECKPOINT_NAME } from '../../shared/recovery/layout.ts';
import {
  type StoredCheckpoint,
  storedCheckpoint,
  storedCheckpoints,
} from '../../shared/recovery/stored-checkpoints.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { VerifyFailure } from '../metrics/checkpoint-metrics.ts';
import type { RestorePlan } from '../recovery/restore/plan.ts';
import type { VerifiedCheckpoint } from '../recovery/verify/verify-checkpoint.ts';

export interface RehearsalDeps {
  readonly core: Core;
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `recovery.verifyDays`; 0: only when asked for. */
  readonly days: () => number;
  readonly tell: (event: NewEvent) => Promise<void>;
}

interface Asked {
  readonly name: string;
  readonly quick: boolean;
  readonly actor: string;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const PLAN_MS = 120_000;

export class Rehearsals {
  readonly #deps: RehearsalDeps;
  readonly #stop = new AbortController();
  /** Ends with the one that is under way. Never rejects. */
  #running: Promise<void> | undefined;
  #planning: Promise<RestorePlan> | undefined;
  #retryAt = 0;
  #hasSwept = false;
  readonly #failures = new Map<VerifyFailure, number>();

  constructor(deps: RehearsalDeps) {
    this.#deps = deps;
  }

  /** Since the start. */
  get failures(): ReadonlyMap<VerifyFailure, number> {
    return this.#failures;
  }

  /** Begins one; the event `checkpoint.verified` tells its end. Throws `not_found`, and `conflict` while one is under way. */
  begin(asked: Asked): { readonly name: string } {
    this.#refuseUnknown(asked.name);
    if (this.#running !== undefined)
      throw new SvcError('conflict', 'a checkpoint is being verified: one at a time', {
        hint: 'the event checkpoint.verified tells its end',
      });
    this.#running = this.#verify(asked).finally(() => {
      this.#running = undefined;
    });
    return { name: asked.name };
  }

  /** What `svc checkpoint restore` would do now. Changes nothing. Throws as the command does, and `conflict` while another one is made. */
  async plan(name: string): Promise<RestorePlan> {
    this.#refuseUnknown(name);
    if (this.#planning !== undefined)
      throw new SvcError('conflict', 'a restore is being planned: one at a time', { hint: 'ask again' });
    this.#planning = this.#plan(name).finally(() => {
      this.#planning = undefined;
    });
    return this.#planning;
  }

  /** Verifies the newest if none was rehearsed for so many days. Called each hour at least. */
  look(): void {
    if (!this.#hasSwept) {
      this.#hasSwept = true;
      this.#removeLeft().catch(() => {}); // a command verifies just now, and removes its own
    }
    const due = this.#due();
    if (due === undefined || this.#running !== undefined || this.#stop.signal.aborted) return;
    this.begin({ name: due.name, quick: false, actor: 'schedule' });
  }

  /** Gives up the one that is under way. */
  async stop(): Promise<void> {
    this.#stop.abort(new SvcError('draining', 'the host is stopping'));
    await Promise.allSettled([this.#running, this.#planning]);
  }

  #refuseUnknown(name: string): void {
    const isThere = CHECKPOINT_NAME.test(name) && storedCheckpoint(this.#deps.project, name) !== undefined;
    if (!isThere) throw new SvcError('not_found', 'there is no checkpoint of this name');
  }

  async #plan(name: string): Promise<RestorePlan> {
    const { core, project, environment } = this.#deps;
    const { planInChild } = await import('../recovery/in-child.ts');
    const late = new AbortController();
    const timer = core.clock.after(PLAN_MS, () =>
      late.abort(
        new SvcError('timeout', `the restore of ${name} was not planned within ${PLAN_MS / 1_000} s`, {
          hint: `svc checkpoint restore ${name} --dry-run takes as long as it needs`,
        }),
      ),
    );
    const request = { project, environment, name, carry: true, open: undefined };
    const stop = (): void => late.abort(this.#stop.signal.reason);
    this.#stop.signal.addEventListener('abort', stop, { once: true });
    return planInChild(request, late.signal).finally(() => {
      timer.cancel();
      this.#stop.signal.removeEventListener('abort', stop);
    });
  }

  #due(): StoredCheckpoint | undefined {
    const { core, project, days } = this.#deps;
    const now = core.clock.now();
    if (days() === 0 || now < this.#retryAt) return undefined;
    const good = storedCheckpoints(project).filter(({ fault }) => fault === undefined);
    const last = Math.max(
      0,
      ...good.flatMap(({ level, verification }) =>
        level === 'rehearsed' && verification !== undefined ? [Date.parse(verification.at)] : [],
      ),
    );
    const isDue = last > now || now - last >= days() * DAY_MS; // a time in the future: the clock was set back
    return isDue ? good.slice(0, 1).find((newest) => this.#hasPresentPackages(newest)) : undefined;
  }

  /** Behind a release the code of an older one would be tried with other packages than its own. The next checkpoint has those of now. */
  #hasPresentPackages({ manifest }: StoredCheckpoint): boolean {
    const { lockfile } = projectPaths(this.#deps.project);
    const present = existsSync(lockfile)
      ? createHash('sha256').update(readFileSync(lockfile)).digest('hex')
      : undefined;
    return manifest?.lockfile?.sha256 === present;
  }

  /** What a kill has left, which may be as large as the database. */
  async #removeLeft(): Promise<void> {
    const { project } = this.#deps;
    if (!existsSync(projectPaths(project).rehearsalDir)) return;
    const { openRehearsal } = await import('../recovery/verify/rehearsal-folder.ts');
    openRehearsal(project).remove();
  }

  async #verify({ name, quick, actor }: Asked): Promise<void> {
    const { core, project, environment, tell } = this.#deps;
    let result: VerifiedCheckpoint;
    try {
      const { verifyInChild } = await import('../recovery/in-child.ts');
      result = await verifyInChild({ project, environment, name, quick }, this.#stop.signal);
    } catch (error) {
      this.#retryAt = core.clock.now() + HOUR_MS;
      if (this.#stop.signal.aborted) return;
      this.#count('unknown');
      core.log.error({ err: error, checkpoint: name }, 'the checkpoint was not verified');
      return;
    }
    const { level, ok, ms, faults, instead } = result;
    if (ok) core.log.info({ checkpoint: name, level, ms }, 'checkpoint verified');
    else {
      this.#count(result.isDamaged === true ? 'damaged' : 'failed');
      core.log.error({ checkpoint: name, level, faults, instead }, 'the checkpoint cannot be relied on');
    }
    const data = { name, level, ok, ms };
    const about = { at: core.clock.now(), runtimeId: core.runtimeId, subject: name, actor };
    await tell({ type: 'checkpoint.verified', ...about, data });
  }

  #count(failure: VerifyFailure): void {
    this.#failures.set(failure, (this.#failures.get(failure) ?? 0) + 1);
  }
}
