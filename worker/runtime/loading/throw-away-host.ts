// A runtime over a database in memory. Code of the real host assembles, activates and commits generations, and all state ends with the
// process. This host has no accounts, dispatcher, sender, timers or files.

import type { LoadedConfig } from '../../../shared/config/load.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { newRuntimeId, type ProjectId } from '../../../shared/identifiers.ts';
import type { Log } from '../../../shared/log/logger.ts';
import { noFailpoint } from '../../../shared/process/failpoints.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import type { Core } from '../../core/core.ts';
import { scopedLog } from '../../core/scoped-log.ts';
import { loadProjectState } from '../../database/project-state.ts';
import { SqliteReader } from '../../database/reader.ts';
import { WriterCore } from '../../database/sqlite/writer-core.ts';
import { GroupingWriter, inlineRunner } from '../../database/writer.ts';
import { partNamesOf } from '../checks/missing-parts.ts';
import { commandsPart } from '../generations/commands-part.ts';
import type { Generation } from '../generations/generation.ts';
import { Runtime } from '../runtime.ts';

export interface ThrowAwayOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly loaded: LoadedConfig;
  readonly log: Log;
  /** Gets warnings of the runtime, such as a resource that does not close. */
  readonly warned: Core['log']['warn'];
}

export interface ThrowAwayHost {
  /** Assembles the generation, opens resources of plugins and commits. Throws SvcError. */
  start(): Promise<Generation>;
  /** Closes everything. Never throws. */
  stop(): Promise<void>;
}

export function throwAwayHost(options: ThrowAwayOptions): ThrowAwayHost {
  const { project, mode, environment, loaded, log } = options;
  const database = new WriterCore({ file: ':memory:', now: systemClock.now });
  const core: Core & { projectId: ProjectId } = {
    runtimeId: newRuntimeId(),
    projectId: '' as ProjectId,
    clock: systemClock,
    writer: new GroupingWriter(inlineRunner(database)),
    reader: new SqliteReader(() => database.open()),
    log: { debug: nothing, info: nothing, warn: options.warned, error: nothing },
    mask: (text) => log.secrets.mask(text),
    point: noFailpoint,
  };
  const runtime = new Runtime(
    {
      core,
      project,
      mode,
      environment,
      lockfile: projectPaths(project).lockfile,
      logger: (slot) => scopedLog(log.logger, { plugin: `root/${slot}` }),
      // No handler runs here, so parts that act on a run are named only.
      parts: (generation) => ({ commands: commandsPart(generation) }),
      partNames: partNamesOf,
      serving: async () => {},
      secrets: (texts) => log.secrets.add(texts),
    },
    loaded,
  );
  return {
    async start() {
      core.projectId = (await loadProjectState(core.writer, core.reader)).projectId;
      return runtime.start();
    },
    async stop() {
      await runtime.stop();
      database.close();
    },
  };
}

const nothing = (): void => {};
