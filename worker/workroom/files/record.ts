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
const PREFIX = /^([0-9a-f]{8}) ([1-9]\d{0,8}) /;
const PREFIX_BYTES = 19;

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
  return Buffer.concat([Buffer.from(`${crcOf(json)} ${json.length} `), json, Buffer.of(LF)]);
}

/** Keys in sorted order. */
const jsonOf = ({ actor, at, cause, data, digest, hash, id, kind, seq, stream, texts, version }: WorkroomEventsTable) =>
  `{"actor":${quoted(actor)},"at":${at},"cause":${orNull(cause)},"data":${quoted(data)},"digest":"${digest}","hash":"${hash}","id":${quoted(id)},"kind":${quoted(kind)},"seq":${seq},"stream":${quoted(stream)},"texts":${orNull(texts)},"version":${version}}`;

const orNull = (text: string | null): string => (text === null ? 'null' : quoted(text));

const crcOf = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(8, '0');

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

/** Reads the line at `offset`, which lies before the end. */
export function readRecord(segment: Buffer, offset: number): ReadRecord {
  const [prefix, crc, bytes] = PREFIX.exec(segment.toString('latin1', offset, offset + PREFIX_BYTES)) ?? [];
  if (prefix !== undefined) {
    const start = offset + prefix.length;
    const end = start + Number(bytes);
    const json = segment.subarray(start, end);
    if (end < segment.length && segment[end] === LF && crcOf(json) === crc) {
      const text = json.toString('utf8');
      const event = parsed(text);
      const isSpelled = event !== undefined && jsonOf(event) === text;
      return { kind: isSpelled ? 'whole' : 'broken', event, end: end + 1 } as ReadRecord;
    }
  }
  return brokenAt(segment, offset);
}

function brokenAt(segment: Buffer, offset: number): ReadRecord {
  const found = segment.indexOf(LF, offset);
  const end = found < 0 ? segment.length : found + 1;
  const brace = segment.indexOf('{', offset);
  const event =
    brace < 0 || brace >= end ? undefined : parsed(segment.toString('utf8', brace, found < 0 ? end : found));
  return { kind: 'broken', event, end };
}

const TEXTS = ['id', 'stream', 'kind', 'actor', 'data', 'digest', 'hash'] as const;
const NULLABLE = ['cause', 'texts'] as const;
const NUMBERS = ['seq', 'version', 'at'] as const;

function parsed(json: string): WorkroomEventsTable | undefined {
  try {
    const value = JSON.parse(json) as Record<string, unknown>;
    const isEvent =
      TEXTS.every((column) => typeof value[column] === 'string') &&
      NUMBERS.every((column) => typeof value[column] === 'number') &&
      NULLABLE.every((column) => value[column] === null || typeof value[column] === 'string');
    return isEvent ? (value as unknown as WorkroomEventsTable) : undefined;
  } catch {
    return undefined;
  }
}
