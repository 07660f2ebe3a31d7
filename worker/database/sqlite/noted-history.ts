// Notes the last event number beside the database before the answer of each commit that raised it. A later start compares the history with the note,
// and detects lost commits.
import { readHistoryEnd } from '../../../shared/files/history-end.ts';
import {
  fileIdentity,
  type HistoryNote,
  notedHistory,
  noteHistoryEnd,
  shortenedHistory,
} from '../../../shared/files/lost-history.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { logOf, sizeOf } from './wal/log-file.ts';

const EPOCH = "SELECT value FROM meta WHERE key = 'epoch'";

export class NotedHistory {
  readonly #file: string;
  readonly #now: () => number;
  #last: HistoryNote | undefined;
  #epoch: (() => unknown) | undefined;
  #of = '';
  /** Highest event number known. Only a higher one is noted, so that a start can still read the former note. */
  #seq = 0;

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** Call before anything is written. Throws SvcError if the history ends before its noted end. */
  refuseShortened(database: Database): void {
    const noted = notedHistory(this.#file);
    const shortened = shortenedHistory(this.#file, { noted, end: readHistoryEnd(database) });
    if (shortened !== undefined) throw shortened;
  }

  opened(database: Database): void {
    if (this.#file === ':memory:') return;
    this.#last = notedHistory(this.#file);
    this.#seq = readHistoryEnd(database).seq;
    this.#of = fileIdentity(this.#file);
    const epoch = database.prepare(EPOCH).pluck();
    this.#epoch = () => epoch.get();
  }

  /** Within a timeline (epoch) the noted number never falls. */
  committed(seq: number): void {
    if (this.#epoch === undefined || seq <= this.#seq) return;
    this.#seq = seq;
    const epoch = this.#epoch();
    if (typeof epoch !== 'string' || (epoch === this.#last?.epoch && seq < this.#last.seq)) return;
    this.#note({ epoch, seq, state: 'open', of: this.#of, at: this.#now() });
  }

  /** Call after the connection was closed. Without a WAL all data is in the database file. */
  closed(): void {
    this.#epoch = undefined;
    if (this.#last?.state !== 'open' || !isLogEmpty(this.#file)) return;
    this.#note({ ...this.#last, state: 'closed' });
  }

  #note(note: HistoryNote): void {
    noteHistoryEnd(this.#file, note, this.#last === undefined);
    this.#last = note;
  }
}

/** False if unknown: the folder may not be readable any more. */
function isLogEmpty(file: string): boolean {
  try {
    return sizeOf(logOf(file)) === 0;
  } catch {
    return false;
  }
}
