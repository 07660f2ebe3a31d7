// A start that takes long because the store is being opened and brought to this program's schema: whoever counts the seconds of this start is told that
// it goes on. A start that merely waits is not said to.
//
//   R1  Told once a second while the store opens, and only where something was done since: the processor was used, or the database's files changed.
import { statSync } from 'node:fs';
import type { App } from '../host/app-options.ts';
import type { OwnerLink } from './owner/owner-link.ts';
import type { SupervisorLink } from './owner/supervisor-link.ts';

export interface StartProgressOptions {
  /** The database. */
  readonly file: string;
  /** To a supervisor. */
  readonly link: Pick<SupervisorLink, 'send'> | undefined;
  /** To another owner. */
  readonly owned: Pick<OwnerLink, 'goesOn'>;
}

const WHAT = 'the database is being opened';
const LOOK_MS = 1_000;
/** Of the time, what a process that waits does not use. */
const WORKING_SHARE = 0.1;

/** Resolves, and rejects, as `app.up` does. */
export async function untilUp(
  app: Pick<App, 'up' | 'isOpening'>,
  { file, link, owned }: StartProgressOptions,
): Promise<void> {
  let before = look(file);
  const timer = setInterval(() => {
    const now = look(file);
    const isWorking = (now.cpuMs - before.cpuMs) / (now.at - before.at) > WORKING_SHARE || now.files !== before.files;
    before = now;
    if (!app.isOpening() || !isWorking) return;
    link?.send({ type: 'progress', what: WHAT });
    owned.goesOn(WHAT);
  }, LOOK_MS);
  try {
    await app.up;
  } finally {
    clearInterval(timer);
  }
}

function look(file: string) {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), cpuMs: (user + system) / 1_000, files: ['', '-wal', '-journal'].map(mark).join(' ') };

  function mark(end: string): string {
    const stat = statSync(file + end, { throwIfNoEntry: false });
    return stat === undefined ? '-' : `${stat.size}@${stat.mtimeMs}`;
  }
}
