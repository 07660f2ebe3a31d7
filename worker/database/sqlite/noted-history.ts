// Notes how far the history has come with each commit that brought it further (D3 of shared/files/lost-history.ts).
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
  /** Of these nothing more is noted: who opened the file is to see what was. */
  #seq = 0;

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** Before anything is written. Throws SvcError where the history ends before what was noted of it (D4). */
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

  /** A timeline is never noted to end before what was noted of it. */
  committed(seq: number): void {
    if (this.#epoch === undefined || seq <= this.#seq) return;
    this.#seq = seq;
    const epoch = this.#epoch();
    if (typeof epoch !== 'string' || (epoch === this.#last?.epoch && seq < this.#last.seq)) return;
    this.#note({ epoch, seq, state: 'open', of: this.#of, at: this.#now() });
  }

  /** The connection was closed; where it was the last one, all is in the one file. */
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

/** False where nobody can tell: its folder may not be for us any more. */
function isLogEmpty(file: string): boolean {
  try {
    return sizeOf(logOf(file)) === 0;
  } catch {
    return false;
  }
}
