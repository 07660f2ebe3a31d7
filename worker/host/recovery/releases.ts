// Releases, wired into the host: looked at each minute, shown over HTTP and in metrics. A host that never had one loads nothing of it.
import { existsSync } from 'node:fs';
import { type ProjectPaths, projectPaths } from '../../../shared/files/paths.ts';
import type { StoredRelease } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Timer } from '../../../shared/time/clock.ts';
import { type Core, reasonOf } from '../../core/core.ts';
import type { ReleasesApi } from '../../http/api/releases-api.ts';
import type { ReleaseFigures } from '../../metrics/release-metrics.ts';
import type { LastVerdict, WatchOptions } from '../../recovery/release/watch-releases.ts';

export interface ReleasesDeps {
  readonly core: Core;
  readonly project: string;
  /** `http.readiness.endpoints`. */
  readonly required: () => WatchOptions['required'];
}

const EACH_MS = 60_000;
/** A window of very many rows takes at most a twentieth of the time. */
const REST = 20;

export class ReleasesHost {
  readonly #deps: ReleasesDeps;
  readonly #paths: ProjectPaths;
  #timer: Timer | undefined;
  #isStopped = false;
  /** Ends with the look that is under way. Never rejects. */
  #looking: Promise<void> | undefined;
  #last: LastVerdict | undefined;
  /** The fault that was logged last, so that it is logged once. */
  #fault: string | undefined;

  constructor(deps: ReleasesDeps) {
    this.#deps = deps;
    this.#paths = projectPaths(deps.project);
  }

  /** Called once the database is open. */
  start(): void {
    this.#wait(EACH_MS);
  }

  #wait(delayMs: number): void {
    const { clock } = this.#deps.core;
    this.#timer = clock.after(delayMs, () => {
      const begunAt = clock.monotonic();
      this.#looking = this.#look().then(() => {
        if (!this.#isStopped) this.#wait(Math.max(EACH_MS, REST * (clock.monotonic() - begunAt)));
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  readonly api: ReleasesApi = {
    list: async (texts) => {
      if (!this.#isAny()) return { releases: [] };
      const { shownRelease } = await import('./release-answers.ts');
      return { releases: (await this.#stored()).map((one) => shownRelease(one, this.#last, texts)) };
    },
    show: async (name, texts) => {
      const found = (await this.#stored()).find((one) => one.name === name);
      if (found === undefined) throw new SvcError('not_found', 'there is no release of this name');
      const { shownRelease, recordFor } = await import('./release-answers.ts');
      return { ...shownRelease(found, this.#last, texts), ...recordFor(found, texts) };
    },
  };

  async figures(): Promise<ReleaseFigures | undefined> {
    if (!this.#isAny()) return undefined;
    const { newestRelease, isEnded } = await import('../../../shared/recovery/release-record.ts');
    const record = newestRelease(this.#deps.project)?.record;
    if (record === undefined) return undefined;
    return { state: record.state, verdict: isEnded(record) ? undefined : record.verdict?.verdict };
  }

  #isAny(): boolean {
    return existsSync(this.#paths.releasesDir);
  }

  async #stored(): Promise<readonly StoredRelease[]> {
    const { storedReleases } = await import('../../../shared/recovery/release-record.ts');
    return storedReleases(this.#deps.project);
  }

  async #look(): Promise<void> {
    if (!this.#isAny()) return;
    const { core, project, required } = this.#deps;
    try {
      const { watchReleases } = await import('../../recovery/release/watch-releases.ts');
      this.#last = await watchReleases({ core, project, required: required() });
      this.#fault = undefined;
    } catch (error) {
      const reason = reasonOf(core, error);
      if (reason !== this.#fault) core.log.warn({ err: error }, 'the release was not judged: tried again each minute');
      this.#fault = reason;
    }
  }
}
