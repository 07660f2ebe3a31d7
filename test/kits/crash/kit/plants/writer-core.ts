// A commit without its sync. A counter that lives in memory and is stored now and then: a restart goes on from an old number.
import { WriterCore as Real } from '../../../../../worker/database/sqlite/writer-core.ts';
import { planted } from './planted.ts';

const OLD_NUMBER = `DELETE FROM event_log WHERE seq > (SELECT value FROM counters WHERE name = 'event') - 40;
  UPDATE counters SET value = max(value - 40, 0) WHERE name = 'event'`;

export class WriterCore extends Real {
  /** Opened again after a failure its file is known. */
  #isFirst: boolean;

  constructor(options: ConstructorParameters<typeof Real>[0]) {
    super(options);
    this.#isFirst = options.inode === undefined;
  }

  override open(...args: Parameters<Real['open']>): ReturnType<Real['open']> {
    const database = super.open(...args);
    if (planted('commit-without-sync')) database.pragma('synchronous = OFF');
    if (planted('seq-from-memory') && this.#isFirst) database.exec(OLD_NUMBER);
    this.#isFirst = false;
    return database;
  }
}
