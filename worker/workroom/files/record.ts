// The lines of a segment of the journal: a header, then `<crc32, 8 hex> <bytes> <json>` for each event, each line ended by LF.
//
//   RECORD-1  An event has one spelling: canonical JSON of all columns. So any other byte of a line is a change.
import { crc32 } from 'node:zlib';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { quoted } from '../journal/chain.ts';

const LF = 10;
const VERSION = 1;
const HEADER_NAME = 'workroom-journal';
/** Longer than any header, and than the two fields before an event. */
const MOST_HEADER_BYTES = 1_024;
const BLANK = 32;
const CRC_DIGITS = 8;
const MOST_LENGTH_DIGITS = 9;

export interface SegmentHeader {
  readonly project: string;
  /** Number of the first event. */
  readonly first: number;
  /** Hash before the first event. */
  readonly prev: string;
}

export const segmentName = (first: number): string => `${String(first).padStart(20, '0')}.wjl`;

/** Undefined for a file that is no segment. */
export function firstOf(name: string): number | undefined {
  const [, digits] = /^(\d{20})\.wjl$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export const headerLine = ({ project, first, prev }: SegmentHeader): string =>
  `${JSON.stringify({ svc: HEADER_NAME, version: VERSION, project, first, prev })}\n`;

export function recordLine(event: WorkroomEventsTable): Buffer {
  const json = Buffer.from(jsonOf(event));
  const crc = crc32(json).toString(16).padStart(CRC_DIGITS, '0');
  return Buffer.concat([Buffer.from(`${crc} ${json.length} `), json, Buffer.of(LF)]);
}

/** Keys in sorted order. */
const jsonOf = ({ actor, at, cause, data, digest, hash, id, kind, seq, stream, texts, version }: WorkroomEventsTable) =>
  `{"actor":${quoted(actor)},"at":${at},"cause":${orNull(cause)},"data":${quoted(data)},"digest":"${digest}","hash":"${hash}","id":${quoted(id)},"kind":${quoted(kind)},"seq":${seq},"stream":${quoted(stream)},"texts":${orNull(texts)},"version":${version}}`;

const orNull = (text: string | null): string => (text === null ? 'null' : quoted(text));

export interface ReadHeader {
  readonly header: SegmentHeader;
  /** Length of the line with its LF. */
  readonly bytes: number;
}

/** The header of a segment; undefined where there is none, or another spelling of one. */
export function readHeader(segment: Buffer): ReadHeader | undefined {
  const end = segment.subarray(0, MOST_HEADER_BYTES).indexOf(LF);
  if (end < 0) return undefined;
  const line = segment.toString('utf8', 0, end + 1);
  try {
    const { project, first, prev } = JSON.parse(line) as SegmentHeader;
    const header = { project, first, prev };
    return line === headerLine(header) ? { header, bytes: end + 1 } : undefined;
  } catch {
    return undefined;
  }
}

export type ReadRecord =
  | { readonly kind: 'whole'; readonly event: WorkroomEventsTable; readonly end: number }
  /** Not as it was written. `end`: where the next line begins. `event`: what can still be read of it. */
  | { readonly kind: 'broken'; readonly event: WorkroomEventsTable | undefined; readonly end: number };

interface Prefix {
  readonly crc: number;
  /** Where the JSON begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** Reads the bytes one by one: an expression costs more than all else of a line but its JSON. */
function prefixAt(segment: Buffer, offset: number): Prefix | undefined {
  let crc = 0;
  let at = offset;
  for (const end = offset + CRC_DIGITS; at < end; at += 1) {
    const digit = hexDigit(segment[at]);
    if (digit < 0) return undefined;
    crc = crc * 16 + digit;
  }
  if (segment[at++] !== BLANK) return undefined;
  let bytes = 0;
  const first = at;
  for (; segment[at] !== BLANK; at += 1) {
    const digit = hexDigit(segment[at]);
    if (digit < 0 || digit > 9 || at - first === MOST_LENGTH_DIGITS || (digit === 0 && at === first)) return undefined;
    bytes = bytes * 10 + digit;
  }
  return at === first ? undefined : { crc, start: at + 1, end: at + 1 + bytes };
}

/** Of a lower-case digit; -1 for any other byte. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined || byte < 48) return -1;
  if (byte <= 57) return byte - 48;
  return byte >= 97 && byte <= 102 ? byte - 87 : -1;
}

/** Reads the line at `offset`, which lies before the end. */
export function readRecord(segment: Buffer, offset: number): ReadRecord {
  const prefix = prefixAt(segment, offset);
  if (prefix !== undefined && prefix.end < segment.length && segment[prefix.end] === LF) {
    const { crc, start, end } = prefix;
    if (crc32(segment.subarray(start, end)) === crc) {
      const text = segment.toString('utf8', start, end);
      const event = parsed(text);
      const isSpelled = event !== undefined && jsonOf(event) === text;
      return { kind: isSpelled ? 'whole' : 'broken', event, end: end + 1 } as ReadRecord;
    }
  }
  return brokenAt(segment, offset);
}

/** Where an event lies, and what finds it there. */
export interface Spot extends Pick<WorkroomEventsTable, 'seq' | 'id' | 'stream' | 'version'> {
  readonly bytes: number;
}

/**
 * The event of the line at `offset` of a segment that was proven just now: its spelling is known, and nothing else of it is read. A quote inside of a
 * column is escaped, so these marks stand nowhere else. Undefined where there is no line.
 */
export function spotAt(segment: Buffer, offset: number): Spot | undefined {
  const prefix = prefixAt(segment, offset);
  if (prefix === undefined || prefix.end >= segment.length) return undefined;
  const text = segment.toString('utf8', prefix.start, prefix.end);
  const id = text.indexOf(',"id":"');
  const kind = text.indexOf(',"kind":"', id);
  const seq = text.indexOf(',"seq":', kind);
  const stream = text.indexOf(',"stream":"', seq);
  const texts = text.indexOf(',"texts":', stream);
  const version = text.lastIndexOf(',"version":');
  if (id < 0 || kind < 0 || seq < 0 || stream < 0 || texts < 0 || version < texts) return undefined;
  return {
    seq: Number(text.slice(seq + ',"seq":'.length, stream)),
    id: unquoted(text.slice(id + ',"id":'.length, kind)),
    stream: unquoted(text.slice(stream + ',"stream":'.length, texts)),
    version: Number(text.slice(version + ',"version":'.length, -1)),
    bytes: prefix.end + 1 - offset,
  };
}

const unquoted = (json: string): string => (json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1));

function brokenAt(segment: Buffer, offset: number): ReadRecord {
  const found = segment.indexOf(LF, offset);
  const end = found < 0 ? segment.length : found + 1;
  const brace = segment.indexOf('{', offset);
  const event =
    brace < 0 || brace >= end ? undefined : parsed(segment.toString('utf8', brace, found < 0 ? end : found));
  return { kind: 'broken', event, end };
}

function parsed(json: string): WorkroomEventsTable | undefined {
  try {
    const event = JSON.parse(json) as WorkroomEventsTable;
    const isEvent =
      typeof event.id === 'string' &&
      typeof event.stream === 'string' &&
      typeof event.kind === 'string' &&
      typeof event.actor === 'string' &&
      typeof event.data === 'string' &&
      typeof event.digest === 'string' &&
      typeof event.hash === 'string' &&
      typeof event.seq === 'number' &&
      typeof event.version === 'number' &&
      typeof event.at === 'number' &&
      (event.cause === null || typeof event.cause === 'string') &&
      (event.texts === null || typeof event.texts === 'string');
    return isEvent ? event : undefined;
  } catch {
    return undefined;
  }
}
