// Every file name under .svc/ and data/. No other code builds a path into the project's state.
import { join } from 'node:path';

export const CONFIG_FILE = 'svc.config.yml';
export const ENV_FILE = '.env';
export const STATE_DIR = '.svc';
export const DATA_DIR = 'data';

/** Entries of a project that are no code: a release leaves them where they are. */
export const STAYING: ReadonlySet<string> = new Set([STATE_DIR, DATA_DIR, ENV_FILE, '.git']);

/** Relative names: sockets are bound and connected from the project folder, since paths over 107 bytes are cut silently. */
export const CONTROL_SOCKET = `${STATE_DIR}/control.sock`;
export const WORKER_SOCKET = `${STATE_DIR}/worker.sock`;

export interface ProjectPaths {
  readonly project: string;
  readonly config: string;
  readonly env: string;
  readonly lockfile: string;
  readonly packageJson: string;
  readonly stateDir: string;
  readonly dataDir: string;
  readonly mediaDir: string;
  readonly database: string;
  readonly writerLock: string;
  /** Segments of the journal of a Workroom with `store: file`. */
  readonly workroomJournal: string;
  readonly workroomCatalog: string;
  /** Key of the links to stored files; belongs in no backup. */
  readonly linkKey: string;
  readonly workerRecord: string;
  readonly supervisorRecord: string;
  readonly restartWindow: string;
  readonly runtimeLog: string;
  readonly reportsDir: string;
  /** Stdout of a worker under launchd, which has no log of its own. */
  readonly serviceLog: string;
  /** Restore points, a folder each. */
  readonly checkpointsDir: string;
  /** States that a restore or a rollback has moved aside. */
  readonly replacedDir: string;
  readonly releasesDir: string;
  /** Where a restore prepares the new state. Anything in it may be removed while no switch is pending. */
  readonly stagingDir: string;
  /** Where `checkpoint verify` restores to. Anything in it may be removed. */
  readonly rehearsalDir: string;
  /** Locked while a process verifies. */
  readonly rehearsalLock: string;
  /** Numbers of checkpoints, releases and replaced states. In a file, because a restored database would turn them back. */
  readonly recoveryNumbers: string;
  /** Locked while a checkpoint is made or removed. */
  readonly recoveryLock: string;
  /** Renames that a restore, a release or a rollback has decided and not finished. */
  readonly pendingSwitch: string;
}

export function projectPaths(project: string): ProjectPaths {
  const state = (name: string): string => join(project, STATE_DIR, name);
  return {
    project,
    config: join(project, CONFIG_FILE),
    env: join(project, ENV_FILE),
    lockfile: join(project, 'package-lock.json'),
    packageJson: join(project, 'package.json'),
    stateDir: join(project, STATE_DIR),
    dataDir: join(project, DATA_DIR),
    mediaDir: join(project, DATA_DIR, 'media'),
    database: state('data.sqlite'),
    writerLock: state('writer.lock'),
    workroomJournal: state('workroom-journal'),
    workroomCatalog: state('workroom-catalog.json'),
    linkKey: state('link.key'),
    workerRecord: state('worker.json'),
    supervisorRecord: state('supervisor.json'),
    restartWindow: state('restart-window.json'),
    runtimeLog: state('runtime.log'),
    reportsDir: state('reports'),
    serviceLog: state('service.log'),
    checkpointsDir: state('checkpoints'),
    replacedDir: state('replaced'),
    releasesDir: state('releases'),
    stagingDir: state('restoring.part'),
    rehearsalDir: state('rehearsal'),
    rehearsalLock: state('rehearsal.lock'),
    recoveryNumbers: state('recovery.json'),
    recoveryLock: state('recovery.lock'),
    pendingSwitch: state('switch.json'),
  };
}
