// Where events lie in the segments, as the database knows it.
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { sql, statement } from '../../database/statement.ts';
import type { WorkroomEventsTable, WorkroomPlacesTable } from '../../database/tables.ts';
import type { Statement } from '../../database/unit.ts';
import { readRecord, segmentName } from './record.ts';
import type { Placed } from './segments.ts';

/** In the order of `COLUMNS`. */
const placeRow = ({ event, segment, offset, bytes }: Placed): WorkroomPlacesTable => {
  const { seq, id, stream, version } = event;
  return { seq, id, stream, version, segment, offset, bytes };
};

const placeValues = (placed: Placed): readonly (string | number)[] => Object.values(placeRow(placed));

/** Events of the files leave the spool. Places that are known already stay. */
export function takeOut(placed: readonly Placed[]): readonly Statement[] {
  const [first] = placed;
  const last = placed.at(-1);
  if (first === undefined || last === undefined) return [];
  const many = placed.length - (placed.length % MANY);
  const statements: Statement[] = [];
  for (let from = 0; from < many; from += MANY)
    statements.push({ sql: INSERT_MANY, parameters: placed.slice(from, from + MANY).flatMap(placeValues) });
  const rest = placed.slice(many);
  if (rest.length > 0) statements.push({ sql: INSERT_PLACES, parameters: [JSON.stringify(rest.map(placeRow))] });
  return [
    ...statements,
    statement(sql.deleteFrom('workroom_spool').where('seq', '>=', first.event.seq).where('seq', '<=', last.event.seq)),
  ];
}

const COLUMNS = ['seq', 'id', 'stream', 'version', 'segment', 'offset', 'bytes'];
const INTO = `INSERT INTO workroom_places (${COLUMNS.join(', ')})`;
const PLACES = `${INTO}
  SELECT ${COLUMNS.map((column) => `json_extract(value, '$.${column}')`).join(', ')} FROM json_each(?) WHERE true
  ON CONFLICT (seq) DO`;
const INSERT_PLACES = `${PLACES} NOTHING`;
const MOVE_PLACES = `${PLACES} UPDATE SET offset = excluded.offset, bytes = excluded.bytes`;

/** So many rows of a journal that is placed anew are bound by themselves, which costs less than their JSON. */
const MANY = 64;
const VALUES = Array.from({ length: MANY }, () => `(${COLUMNS.map(() => '?').join(', ')})`).join(', ');
const INSERT_MANY = `${INTO} VALUES ${VALUES} ON CONFLICT (seq) DO NOTHING`;
/** Events of a segment that was written anew. */
export const movePlaces = (placed: readonly Placed[]): Statement => ({
  sql: MOVE_PLACES,
  parameters: [JSON.stringify(placed.map(placeRow))],
});

/** Reads events at their places. Throws `journal_damaged` at a line that does not hold. */
export function readPlaces(folder: string, places: readonly WorkroomPlacesTable[]): readonly WorkroomEventsTable[] {
  const files = new Map<number, number>();
  try {
    return places.map((place) => {
      const path = join(folder, segmentName(place.segment));
      try {
        const file = files.get(place.segment) ?? openSync(path, 'r');
        files.set(place.segment, file);
        const line = Buffer.alloc(place.bytes);
        readSync(file, line, 0, place.bytes, place.offset);
        const record = readRecord(line, 0);
        if (record.kind === 'whole' && record.event.seq === place.seq) return record.event;
      } catch (error) {
        throw unreadable(place, `${path}: ${messageOf(error)}`);
      }
      throw unreadable(place, `${path} at byte ${place.offset}`);
    });
  } finally {
    for (const file of files.values()) closeSync(file);
  }
}

const unreadable = ({ seq, stream }: WorkroomPlacesTable, where: string): SvcError =>
  new SvcError('journal_damaged', `event ${seq} of ${stream} cannot be read from ${where}`, {
    hint: 'svc workroom verify tells all that is damaged',
  });
