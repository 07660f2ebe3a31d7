// The wire format of an event: a CloudEvents envelope, framed for SSE (one HTTP/1.1 chunk) or WebSocket.
// A frame is encoded once per scope and wire format and shared by all clients. Demo scope sees only the registered demo fields.
import type { EventLogTable } from '../../database/tables.ts';
import { formatEventId } from '../cursor.ts';
import { eventKind } from '../event-types.ts';

export type EventRow = Readonly<EventLogTable>;
export type StreamScope = 'demo' | 'full';
export type Wire = 'sse' | 'ws';

export interface FrameSource {
  readonly projectId: string;
  readonly epoch: string;
}

export interface ControlFrame {
  readonly event: 'svc.hello' | 'svc.gap' | 'svc.live' | 'svc.bookmark' | 'svc.drain';
  readonly id?: string;
  readonly retryMs?: number;
  readonly data: unknown;
}

/** The envelope of a stored event, as JSON without line breaks. */
export function envelopeJson(row: EventRow, scope: StreamScope, { projectId, epoch }: FrameSource): string {
  const kind = eventKind(row.type);
  const full = scope === 'full';
  let text =
    `{"specversion":"1.0","id":"${formatEventId(epoch, row.seq)}","source":"/svc/${projectId}","type":"${row.type}","time":"${new Date(row.at).toISOString()}"` +
    `,"datacontenttype":"application/json","dataschema":"urn:svc:event:${row.type}:${row.version}","runtimeid":${JSON.stringify(row.runtime_id)}`;
  if (row.generation !== null) text += `,"generation":${row.generation}`;
  if (row.endpoint !== null) text += `,"endpoint":${JSON.stringify(row.endpoint)}`;
  if (row.run_id !== null) text += `,"runid":${JSON.stringify(row.run_id)}`;
  if (row.subject !== null && (full || kind !== undefined)) text += `,"subject":${JSON.stringify(row.subject)}`;
  if (full && row.actor !== null) text += `,"actor":${JSON.stringify(row.actor)}`;
  if (full && row.correlation_id !== null) text += `,"correlationid":${JSON.stringify(row.correlation_id)}`;
  if (full && row.causation_id !== null) text += `,"causationid":${JSON.stringify(row.causation_id)}`;
  return `${text},"data":${full ? singleLine(row.data) : shownData(row.data, kind?.demo ?? [])}}`;
}

/** The frame of a stored event: an SSE block in one HTTP/1.1 chunk, or one WebSocket message. */
export function eventFrame(
  row: EventRow,
  { scope, wire }: { readonly scope: StreamScope; readonly wire: Wire },
  source: FrameSource,
): Buffer {
  const envelope = envelopeJson(row, scope, source);
  const id = formatEventId(source.epoch, row.seq);
  if (wire === 'ws') return Buffer.from(`{"id":"${id}","event":"${row.type}","data":${envelope}}`);
  return chunk(`id: ${id}\nevent: ${row.type}\ndata: ${envelope}\n\n`);
}

export function controlFrame({ event, id, retryMs, data }: ControlFrame, wire: Wire): Buffer {
  const json = JSON.stringify(data);
  if (wire === 'ws')
    return Buffer.from(`{${id === undefined ? '' : `"id":"${id}",`}"event":"${event}","data":${json}}`);
  const retry = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
  return chunk(`${retry}${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`);
}

/** An SSE comment that keeps proxies from closing an idle stream. */
export const heartbeatFrame: Buffer = chunk(': \n\n');

/** Removes the chunk framing, for responses that do their own chunking. */
export function unwrapChunks(buffer: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < buffer.length; ) {
    const lineEnd = buffer.indexOf('\r\n', at);
    const length = Number.parseInt(buffer.toString('latin1', at, lineEnd), 16);
    parts.push(buffer.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

function chunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

function shownData(data: string, fields: readonly string[]): string {
  if (fields.length === 0) return '{}';
  const values = JSON.parse(data) as Readonly<Record<string, unknown>>;
  return JSON.stringify(
    Object.fromEntries(fields.filter((field) => Object.hasOwn(values, field)).map((field) => [field, values[field]])),
  );
}

/** Data stored by the host has no line breaks. Other JSON is re-encoded. */
function singleLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? JSON.stringify(JSON.parse(json)) : json;
}
