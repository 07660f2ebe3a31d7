// All migrations in order. A breaking migration makes an older svc refuse the database; a compatible one does not.
import { init } from './0001-init.ts';
import { failures } from './0002-failures.ts';
import { revisions } from './0003-revisions.ts';
import { waits } from './0004-waits.ts';
import { drops } from './0005-drops.ts';
import { openRows } from './0006-open-rows.ts';
import { oldButtons } from './0007-old-buttons.ts';
import { fetchedFiles } from './0008-fetched-files.ts';
import { numberedStarts } from './0009-numbered-starts.ts';
import { deaths } from './0010-deaths.ts';
import { causes } from './0011-causes.ts';
import { jobRuns } from './0012-job-runs.ts';
import { workroom } from './0013-workroom.ts';
import { workroomFiles } from './0014-workroom-files.ts';
import { restores } from './0015-restores.ts';
import { acceptances } from './0016-acceptances.ts';
import { alerts } from './0017-alerts.ts';

export interface Migration {
  /** Consecutive from 1. */
  readonly id: number;
  readonly name: string;
  /** True when an svc that does not know this migration must not open the database. */
  readonly breaking: boolean;
  readonly statements: readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [
  init,
  failures,
  revisions,
  waits,
  drops,
  openRows,
  oldButtons,
  fetchedFiles,
  numberedStarts,
  deaths,
  causes,
  jobRuns,
  workroom,
  workroomFiles,
  restores,
  acceptances,
  alerts,
];
