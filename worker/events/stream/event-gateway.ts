// The event history over HTTP and WebSocket.
//
// The path of an event: stored with its change (event-history) → head moves → the hub reads the log into its window →
// channels encode batches of frames → each client's cursor advances (stream-client) → socket (sse-, websocket-gateway).
import { within } from '../../../shared/time/abort.ts';
import type { EventGateway } from '../../http/api/events-api.ts';
import { formatEventId } from '../cursor.ts';
import { type EventDeps, EventHub, type StreamOptions } from '../event-hub.ts';
import { readEventPage } from '../event-page.ts';
import { compileFilter } from '../filter.ts';
import { streamEvents } from './sse-gateway.ts';
import { createWebSocketGateway } from './websocket-gateway.ts';

export interface EventGatewayOptions extends StreamOptions {
  /** Interval of pings on a WebSocket. A connection is cut if no pong comes before the next ping. */
  readonly pingMs: number;
}

const PING_MS = 30_000;
/** Time limit for sending the last frames of a drain. */
const FLUSH_LIMIT_MS = 1_500;

/** Needs head, oldest and epoch from the store, so the database must be open. */
export function createEventGateway(deps: EventDeps, options: Partial<EventGatewayOptions> = {}): EventGateway {
  const hub = new EventHub(deps, options);
  const webSockets = createWebSocketGateway(hub, deps.clock, { pingMs: options.pingMs ?? PING_MS });
  const streams = new Set<Promise<void>>();
  const source = { projectId: deps.projectId, epoch: deps.epoch };
  return {
    async stream(request, response, streamRequest) {
      const ended = streamEvents(hub, { request, response }, streamRequest);
      streams.add(ended);
      await ended.finally(() => streams.delete(ended));
    },
    async page({ caller, after, limit, types, endpoints }) {
      return readEventPage(
        deps.reader,
        { source, bounds: hub.bounds() },
        { after, limit, filter: compileFilter(types, endpoints), scope: caller.scope },
      );
    },
    upgrade: (...handshake) => webSockets.upgrade(...handshake),
    position: () => formatEventId(deps.epoch, deps.head()),
    openStreams: (actor) => hub.openStreams(actor),
    closeRevoked: (validActors) => hub.closeRevoked(validActors),
    async drain() {
      await hub.drain();
      await within(Promise.all([...streams, webSockets.drain()]), {
        ms: FLUSH_LIMIT_MS,
        late: undefined,
        clock: deps.clock,
      });
    },
  };
}
