// Reports progress of a long start while the database is opened or migrated. The owner then extends its start timeout.
//
//   PROGRESS-1  Progress is reported once a second while the store opens, and only after work. Work means that CPU time was used or the
//               database's files changed. A start that merely waits reports nothing.
import { statSync } from 'node:fs';
import type { App } from '../host/app-options.ts';
import type { OwnerLink } from './owner/owner-link.ts';
import type { SupervisorLink } from './owner/supervisor-link.ts';

export interface StartProgressOptions {
  /** Path of the database. */
  readonly file: string;
  /** The supervisor, if there is one. */
  readonly link: Pick<SupervisorLink, 'send'> | undefined;
  /** Any other owner. */
  readonly owned: Pick<OwnerLink, 'goesOn'>;
}

const WHAT = 'the database is being opened';
const LOOK_MS = 1_000;
/** Share of CPU time above which the process counts as working. */
const WORKING_SHARE = 0.1;

/** Settles as `app.up` does. */
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
