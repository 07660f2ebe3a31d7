// The host behind each proxy is stopped and killed under steady requests: a client that tries again loses none, and none is stored twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../support/until.ts';
import { call, type EdgeAddress } from './kit/edge-client.ts';
import { delivery, edgeHost, storedIds } from './kit/edge-host.ts';
import { certificateIn, KINDS, proxiesMissing, temporaryFolder } from './kit/machine-proxies.ts';
import { writtenProxy } from './kit/written-proxy.ts';

/** Deliveries through each proxy, sent by so many at a time. */
const EACH = 120;
const AT_A_TIME = 4;

interface Sender {
  readonly ids: readonly string[];
  acknowledged: number;
  /** Attempts that got no 2xx: told, not judged. */
  refused: number;
}

async function sendAll(edge: EdgeAddress, sender: Sender): Promise<void> {
  const left = [...sender.ids];
  const oneAfterAnother = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const sent = delivery(id, id);
      await until(
        async () => {
          const isTaken = await call(edge, sent).then(
            ({ status }) => status === 200,
            () => false,
          );
          if (!isTaken) sender.refused += 1;
          return isTaken;
        },
        { what: `${id} to be taken`, everyMs: 50 },
      );
      sender.acknowledged += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, oneAfterAnother));
}

describe('a host that restarts behind a proxy', { skip: proxiesMissing(), timeout: 600_000 }, () => {
  it('loses no delivery of a client that tries again, and stores each once', async (t) => {
    const certificate = certificateIn(temporaryFolder(t));
    const host = await edgeHost(t);
    const edges = await Promise.all(
      KINDS.map(async (kind) => (await writtenProxy(t, { kind, upstream: host.port, certificate })).edge),
    );
    const senders = KINDS.map(
      (kind): Sender => ({ ids: Array.from({ length: EACH }, (_, i) => `${kind}-${i}`), acknowledged: 0, refused: 0 }),
    );
    const sending = Promise.all(edges.map((edge, i) => sendAll(edge, senders[i] as Sender)));
    for (const [share, signal] of [
      [0.2, 'SIGTERM'],
      [0.6, 'SIGKILL'],
    ] as const) {
      await until(() => senders.every(({ acknowledged }) => acknowledged >= share * EACH), { what: `${share} of all` });
      await host.stop(signal);
      await host.start();
    }
    await sending;

    const ids = await storedIds(host);
    assert.deepEqual(ids.toSorted(), senders.flatMap((sender) => sender.ids).toSorted());
    for (const [i, { refused }] of senders.entries()) t.diagnostic(`${KINDS[i]}: ${refused} attempts were repeated`);
  });
});
