// The chat page's side of the sandbox: what people write goes into the inbox like any delivery; what they see is read from inbox and
// outbox, in the order in which the event history says that it became visible.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import { sql } from '../database/statement.ts';
import type { EndpointRunner } from '../endpoints/endpoint-runner.ts';
import type { ChatMessage, ChatPort } from '../http/host-port.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { readPayload } from '../inbox/payload.ts';
import { resolveCall } from '../outbox/resolve-call.ts';
import type { Arrival, Outgoing } from '../sdk/index.ts';
import type { IngressGate } from './ingress-gate.ts';
import { receiveArrivals } from './webhooks.ts';

/** The adapter's own pure functions, handed in by the composition root. */
export interface SandboxView {
  arrival(said: {
    readonly person: string;
    readonly room: string | undefined;
    readonly text: string;
    readonly delivery: string;
    readonly sentAt: number;
  }): Arrival;
  press(pressed: {
    readonly person: string;
    readonly room: string | undefined;
    readonly message: string;
    readonly token: string;
    readonly delivery: string;
    readonly sentAt: number;
  }): Arrival;
  conversation(place: { readonly person: string; readonly room: string | undefined }): string;
  view(
    inbound: readonly { n: number; at: number; arrival: Arrival }[],
    outbound: readonly { n: number; at: number; call: Outgoing }[],
    place: { readonly person: string; readonly room: string | undefined },
  ): readonly ChatMessage[];
}
export interface SandboxChatDeps {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly gate: IngressGate;
  readonly admit: () => void;
  readonly endpoint: () => EndpointRunner | undefined;
  readonly sandbox: SandboxView;
}

const MOST_ROWS = 500;

export function createSandboxChat({ core, inbox, gate, admit, endpoint, sandbox }: SandboxChatDeps): ChatPort {
  const running = (): EndpointRunner => {
    const runner = endpoint();
    if (runner === undefined)
      throw new SvcError('not_found', 'this host has no sandbox', {
        hint: 'add `sandbox: {}` under plugins in svc.config.yml',
      });
    return runner;
  };
  const take = async (arrival: Arrival): Promise<{ id: string; duplicate: boolean }> => {
    const runner = running();
    if (!runner.takesDeliveries)
      throw new SvcError('endpoint_unavailable', `${runner.spec.id} is disabled`, {
        hint: `svc endpoints enable ${runner.spec.name}`,
      });
    admit();
    gate.refuseWhenRejecting();
    const { fresh } = await receiveArrivals(inbox, runner.spec, { arrivals: [arrival] });
    return { id: fresh[0] ?? arrival.id, duplicate: fresh.length === 0 };
  };
  return {
    say: (message) => take(sandbox.arrival({ ...message, sentAt: core.clock.now() })),
    press: (press) => take(sandbox.press({ ...press, sentAt: core.clock.now() })),
    async messages({ person, room, after }) {
      const place = { person, room };
      const { id } = running().spec;
      const conversation = sandbox.conversation(place);
      const { inbound, outbound } = await readVisible(core, { endpoint: id, conversation });
      const messages = sandbox.view(inbound, outbound, place);
      const cursor = Math.max(after, ...messages.map(({ n }) => n));
      return { messages: messages.filter(({ n }) => n > after), cursor };
    },
  };
}

interface Visible {
  readonly inbound: { n: number; at: number; arrival: Arrival }[];
  readonly outbound: { n: number; at: number; call: Outgoing }[];
}

/** The newest rows of one conversation; `n` is the position of the event with which each became visible. */
async function readVisible(
  core: Core,
  { endpoint, conversation }: { readonly endpoint: string; readonly conversation: string },
): Promise<Visible> {
  const lane = [endpoint, conversation, ''].map(encodeURIComponent).join('/');
  // One position for both reads: a line that is stored between them must not be passed over by the cursor.
  const [newest] = await core.reader.all(sql.selectFrom('counters').select('value').where('name', '=', 'event'));
  const head = newest?.value ?? 0;
  const items = await core.reader.all(
    sql
      .selectFrom('event_log')
      .innerJoin('inbox', 'inbox.id', 'event_log.subject')
      .select([
        'event_log.seq as n',
        'inbox.received_at as at',
        'inbox.kind',
        'inbox.payload_version as version',
        'inbox.body',
      ])
      .where('event_log.type', '=', 'inbox.received')
      .where('event_log.seq', '<=', head)
      .where('event_log.endpoint', '=', endpoint)
      .where('inbox.lane', '=', lane)
      .where('inbox.body', 'is not', null)
      .orderBy('event_log.seq', 'desc')
      .limit(MOST_ROWS),
  );
  const sends = await core.reader.all(
    sql
      .selectFrom('event_log')
      .innerJoin('outbox', 'outbox.id', 'event_log.subject')
      .selectAll('outbox')
      .select('event_log.seq as n')
      .where('event_log.type', '=', 'outbox.sent')
      .where('event_log.seq', '<=', head)
      .where('event_log.endpoint', '=', endpoint)
      .where('outbox.conversation', '=', conversation)
      .where('outbox.body', 'is not', null)
      .orderBy('event_log.seq', 'desc')
      .limit(MOST_ROWS),
  );
  const inbound = items.flatMap((row) => {
    const payload = readPayload(row.kind, row.version, row.body);
    return payload.kind === 'arrival' ? [{ n: Number(row.n), at: row.at, arrival: payload.arrival }] : [];
  });
  const outbound: Visible['outbound'] = [];
  for (const row of sends) {
    const resolved = await resolveCall(core, row);
    if (resolved.kind === 'ok')
      outbound.push({ n: Number(row.n), at: row.done_at ?? row.created_at, call: resolved.call });
  }
  return { inbound, outbound };
}
