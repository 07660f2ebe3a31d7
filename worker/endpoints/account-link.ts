// The `Link` that an adapter gets for one connection of its account.
import { guardedSignal } from '../../shared/time/abort.ts';
import type { Link } from '../sdk/index.ts';
import type { AcceptedSockets } from './accepted-sockets.ts';
import { checkArrivals, checkCursor } from './arrival-shapes.ts';
import type { EndpointRunnerDeps, EndpointSpec } from './endpoint-runner.ts';
import type { SentFiles } from './sent-files.ts';

export interface LinkParts extends Pick<Link<never>, 'online' | 'degraded'> {
  /** Aborts at the end of the connection. */
  readonly signal: AbortSignal;
  readonly sockets: AcceptedSockets;
  readonly files: SentFiles;
}

export async function makeLink(
  spec: EndpointSpec,
  deps: EndpointRunnerDeps,
  { signal, sockets, files, online, degraded }: LinkParts,
): Promise<Link<never>> {
  let cursor = await deps.cursor(spec.id);
  const log = deps.logger(spec.id);
  return {
    account: spec.values as never,
    endpoint: spec.id,
    signal: guardedSignal(signal, (error) => log.error({ err: error }, 'a listener of link.signal failed')),
    log,
    get cursor() {
      return cursor;
    },
    online,
    degraded,
    accept: (take) => sockets.accept(take, signal),
    readFile: (file) => files.read(file),
    openFile: (file) => files.open(file),
    fileUrl: (file) => deps.fileUrl(spec, file),
    get maxFileBytes() {
      return deps.files.mostBytes;
    },
    receive: async (arrivals, next) => {
      const { name } = spec.adapter;
      const covered = checkCursor(name, next);
      await deps.receive(spec, checkArrivals(name, arrivals), covered);
      cursor = covered ?? cursor;
    },
  };
}
