// The journal as it lies on a disk, read by hand: code of the host that has forgotten to look would agree with itself.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Sqlite } from '../../../../shared/sqlite.ts';

export type JournalStore = 'database' | 'file';

export interface StoredEvent {
  readonly seq: number;
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly kind: string;
  readonly at: number;
  readonly actor: string;
  readonly cause: string | null;
  readonly data: string;
  readonly hash: string;
}

export interface StoredJournal {
  readonly projectId: string;
  /** In order. In files: with those that only the spool has. */
  readonly events: readonly StoredEvent[];
  /** So many of them are where an acknowledgement waits for them. */
  readonly kept: number;
  readonly faults: readonly string[];
}

export function readStored(stateDir: string, store: JournalStore): StoredJournal {
  const database = new Sqlite(join(stateDir, 'data.sqlite'), { readonly: true });
  try {
    const projectId = String(database.prepare("SELECT value FROM meta WHERE key = 'project_id'").pluck().get());
    const rows = (table: string) => database.prepare(`SELECT * FROM ${table} ORDER BY seq`).all();
    if (store === 'database') {
      const events = rows('workroom_events') as StoredEvent[];
      return { projectId, events, kept: events.length, faults: [] };
    }
    const { lines, faults } = readSegments(join(stateDir, 'workroom-journal'));
    const spool = rows('workroom_spool') as StoredEvent[];
    const events = [...lines.map(({ event }) => event), ...spool.filter(({ seq }) => seq > lines.length)];
    const more = [
      ...misplaced(rows('workroom_places') as Place[], lines),
      ...spool
        .filter(({ seq, hash }) => seq <= lines.length && lines[seq - 1]?.event.hash !== hash)
        .map(({ seq }) => `event ${seq} of the spool is another one in the files`),
    ];
    return { projectId, events, kept: lines.length, faults: [...faults, ...more] };
  } finally {
    database.close();
  }
}

interface Line {
  readonly event: StoredEvent;
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
}
type Place = Omit<Line, 'event'> & { readonly seq: number };

const NAME = /^(\d{20})\.wjl$/;
const LF = 10;

/** Whole lines. Only the end of the last segment may be torn. */
function readSegments(folder: string): { readonly lines: readonly Line[]; readonly faults: readonly string[] } {
  const lines: Line[] = [];
  const faults: string[] = [];
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  for (const name of names.sort()) {
    const content = readFileSync(join(folder, name));
    const segment = Number(NAME.exec(name)?.[1]);
    const before = lines.length;
    let offset = content.indexOf(LF) + 1;
    while (offset > 0 && offset < content.length) {
      const end = content.indexOf(LF, offset);
      const event = end < 0 ? undefined : eventIn(content.subarray(offset, end));
      if (event === undefined) break;
      lines.push({ event, segment, offset, bytes: end + 1 - offset });
      offset = end + 1;
    }
    if (name !== names.at(-1) && (offset < content.length || before === lines.length))
      faults.push(`${name} does not hold at byte ${offset}, and others follow`);
    if (lines.length > before && segment !== before + 1) faults.push(`${name} follows event ${before}`);
  }
  return { lines, faults };
}

/** `<crc32, 8 hex> <bytes> <json>`. */
function eventIn(line: Buffer): StoredEvent | undefined {
  const [head, crc, bytes] = /^([\da-f]{8}) (\d+) /.exec(line.toString('latin1', 0, 20)) ?? [];
  if (head === undefined) return undefined;
  const json = line.subarray(head.length);
  const isWhole = json.length === Number(bytes) && crc32(json) === Number.parseInt(crc ?? '', 16);
  return isWhole ? (JSON.parse(json.toString()) as StoredEvent) : undefined;
}

/** Events that the database has taken out of the spool have to be in the files, where it says. */
function misplaced(places: readonly Place[], lines: readonly Line[]): readonly string[] {
  return places.flatMap(({ seq, segment, offset, bytes }) => {
    const line = lines[seq - 1];
    return line?.segment === segment && line.offset === offset && line.bytes === bytes
      ? []
      : [`event ${seq} is not where the database has it: byte ${offset} of segment ${segment}`];
  });
}
