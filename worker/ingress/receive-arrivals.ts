// Turns what an account hands in (over HTTP or its connection) into deliveries in the inbox.

import { wellFormed } from '../../shared/log/well-formed.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import type { EndpointSpec } from '../endpoints/endpoint-runner.ts';
import type { Inbox, Joined } from '../inbox/inbox.ts';
import type { Delivery } from '../inbox/prepare-item.ts';
import { laneName } from '../lanes/lane-name.ts';
import type { Arrival } from '../sdk/index.ts';

/**
 * Stores the arrivals together with the cursor that covers them. The account's own messages are left out. Half characters become U+FFFD, so a handler
 * never sees one.
 */
export async function receiveArrivals(
  inbox: Inbox,
  spec: EndpointSpec,
  {
    arrivals,
    cursor,
    joined = () => [],
  }: { readonly arrivals: readonly Arrival[]; readonly cursor?: string | undefined; readonly joined?: Joined },
) {
  const others = wellFormed(arrivals.filter(({ user }) => user.self !== true));
  const deliveries = others.map((arrival) => deliveryOf(spec, arrival));
  const covered = cursor === undefined ? [] : [keepCursor(spec.id, cursor)];
  return inbox.accept(deliveries, (ids) => [...covered, ...joined(ids)]);
}

function deliveryOf(spec: EndpointSpec, arrival: Arrival): Delivery {
  const { id, thread = '' } = arrival.conversation;
  return {
    endpoint: spec.id,
    deliveryId: arrival.id,
    payload: { kind: 'arrival', arrival },
    lane: laneName(spec.id, id, thread),
  };
}

/** Stores the platform's position in the transaction of the deliveries that it covers. */
function keepCursor(endpoint: string, cursor: string): Statement {
  return statement(
    sql
      .insertInto('endpoints')
      .values({ endpoint, cursor, revision: 0 })
      .onConflict((conflict) => conflict.column('endpoint').doUpdateSet({ cursor })),
  );
}
