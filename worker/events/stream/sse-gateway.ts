// Server-sent events over node:http: headers, writing to the socket, and the end of a stream.
//
// Frames are HTTP/1.1 chunks already and are written to the socket directly, many in one write.
// A response that chunks by itself (HTTP/2, HTTP/1.0, a wrapped response) gets their content through `res.write`.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SvcError } from '../../../shared/svc-error.ts';
import type { StreamRequest } from '../../http/api/events-api.ts';
import { decideResume, type Resume } from '../cursor.ts';
import type { EventHub } from '../event-hub.ts';
import { compileFilter } from '../filter.ts';
import { unwrapChunks } from './frame.ts';
import type { EndReason, Transport } from './stream-client.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
} as const;

/**
 * Streams until either side ends. Throws only before the first byte: `invalid_request`, `draining`, and `history_expired` with `gap: fail`.
 */
export function streamEvents(
  hub: EventHub,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  options: StreamRequest,
): Promise<void> {
  const filter = compileFilter(options.types, options.endpoints);
  const resume = resumeOrThrow(hub, options);
  response.writeHead(200, HEADERS);
  if (request.method === 'HEAD') {
    response.end();
    return Promise.resolve();
  }
  response.flushHeaders();
  request.socket.setTimeout(0);
  request.socket.setNoDelay(true);
  return new Promise((resolve) => {
    const { transport, source } = transportOf(response);
    const client = hub.subscribe({
      wire: 'sse',
      scope: options.caller.scope,
      actor: options.caller.actor,
      filter,
      resume,
      transport,
    });
    const onDrain = (): void => client.drained();
    source.on('drain', onDrain);
    response.on('close', () => {
      source.off('drain', onDrain);
      hub.leave(client);
      resolve();
    });
    response.on('error', () => {}); // a client that went away; 'close' follows
    if (response.destroyed) hub.leave(client);
  });
}

/** The position at which the stream begins. Throws `draining`, and `history_expired` instead of a gap with `gap: fail`. */
export function resumeOrThrow(hub: EventHub, { lastEventId, gap }: Pick<StreamRequest, 'lastEventId' | 'gap'>): Resume {
  if (hub.draining)
    throw new SvcError('draining', 'the event stream is closing for a restart', { hint: 'connect again in a second' });
  const bounds = hub.bounds();
  const resume = decideResume(lastEventId, bounds, gap === 'head' ? 'head' : 'oldest');
  if (resume.kind === 'gap' && gap === 'fail') {
    const { reason, missed } = resume.gap;
    hub.gapRefused(reason);
    throw new SvcError('history_expired', `the stream cannot go on from this id: ${reason}`, {
      hint: 'load the state anew and subscribe from its Svc-Event-Position',
      details: { reason, missed, epoch: bounds.epoch, oldest: bounds.oldest, head: bounds.head },
    });
  }
  return resume;
}

interface WayOut {
  readonly transport: Transport;
  /** The emitter of `drain` events. */
  readonly source: Socket | ServerResponse;
}

function transportOf(response: ServerResponse): WayOut {
  const socket = response.socket;
  return socket !== null && chunksItself(response) ? socketWay(response, socket) : responseWay(response);
}

/** True if the response would write the same chunks itself: HTTP/1.1 and an unwrapped `write`. */
function chunksItself(response: ServerResponse): boolean {
  return response.chunkedEncoding && response.write === ServerResponse.prototype.write;
}

function socketWay(response: ServerResponse, socket: Socket): WayOut {
  return {
    source: socket,
    transport: {
      write: (parts) => {
        for (const part of parts) socket.write(part);
      },
      queuedBytes: () => (socket.writableNeedDrain ? socket.writableLength : 0),
      end: (reason) => endResponse(response, reason),
    },
  };
}

function responseWay(response: ServerResponse): WayOut {
  return {
    source: response,
    transport: {
      write: (parts) => {
        for (const part of parts) response.write(unwrapChunks(part));
      },
      queuedBytes: () => (response.writableNeedDrain ? response.writableLength : 0),
      end: (reason) => endResponse(response, reason),
    },
  };
}

/** A stalled socket would not send the final chunk either, so it is destroyed. */
function endResponse(response: ServerResponse, reason: EndReason): void {
  if (reason === 'slow') response.destroy();
  else response.end();
}
