// A commit without its sync. A hash chain that nobody continues: each event begins one of its own. A counter that lives in memory and is stored now and then: a restart goes on from an old number.
import { createHash } from 'node:crypto';
import { WriterCore as Real } from '../../../../../worker/database/sqlite/writer-core.ts';
import { planted } from './planted.ts';

const OLD_NUMBER = `DELETE FROM event_log WHERE seq > (SELECT value FROM counters WHERE name = 'event') - 40;
  UPDATE counters SET value = max(value - 40, 0) WHERE name = 'event'`;

/** The second line of a chain hash is the hash before. */
function hashOfItsOwn(text: unknown): string {
  const lines = String(text).split('\n');
  if (lines.length === 4) lines[1] = '';
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

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
    if (planted('workroom-chain-restarts')) database.function('svc_sha256', { deterministic: true }, hashOfItsOwn);
    if (planted('seq-from-memory') && this.#isFirst) database.exec(OLD_NUMBER);
    this.#isFirst = false;
    return database;
  }
}
