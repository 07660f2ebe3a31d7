// edge.idle: whether a stream without events outlives the time-outs of the proxy. Its heartbeats are all that keeps it open.
import { type Edge, type Finding, fault, ok, skip } from '../check.ts';
import { ask } from './edge-request.ts';

/** Of these there is one a start: all that the stream shows are heartbeats. */
const PATH = '/api/events?types=runtime.started';
/** A heartbeat is a comment, or a position where events were left out. */
const HEARTBEAT = /^(?:: ?|event: svc\.bookmark)$/gmu;

export async function idle(edge: Edge): Promise<Finding> {
  const { idleSeconds } = edge;
  if (idleSeconds === undefined) return skip('only with --idle <seconds>');
  const startedAt = performance.now();
  const { status, text, late } = await ask(edge, { path: PATH, timeoutMs: idleSeconds * 1_000 });
  const seconds = Math.floor((performance.now() - startedAt) / 1_000);
  return idleFinding({ status, text, isOpen: late, seconds });
}

export interface Watched {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly text: string;
  /** At the end of the time. */
  readonly isOpen: boolean;
  readonly seconds: number;
}

/** Pure. */
export function idleFinding({ status, text, isOpen, seconds }: Watched): Finding {
  if (status !== 200) return fault(`/api/events answered with ${status}`, 'svc doctor --only edge.auth,edge.stream');
  if (text.includes('event: svc.drain')) return skip('the host began to restart: ask again');
  const beats = text.match(HEARTBEAT)?.length ?? 0;
  const everySeconds = Number(/"heartbeatMs":(\d+)/u.exec(text)?.[1] ?? 15_000) / 1_000;
  if (!isOpen)
    return fault(
      `a stream without events ended after ${seconds} s, with a heartbeat each ${everySeconds} s`,
      'proxy_read_timeout 75s; timeout client 75s, timeout server 75s',
    );
  const isLong = seconds >= 2 * everySeconds;
  if (isLong && beats === 0)
    return fault(
      `no heartbeat came in ${seconds} s: the proxy keeps small pieces back`,
      'proxy_buffering off, for /api/events',
    );
  return ok(
    isLong
      ? `open for ${seconds} s, over ${beats} heartbeats`
      : `open for ${seconds} s, which is less than two heartbeats: --idle ${Math.ceil(2 * everySeconds) + 10} tells more`,
  );
}
