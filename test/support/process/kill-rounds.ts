// Deliveries that come once, and a kill of the host right after some of them were acknowledged.
import type { RunningHost } from '../hosts/running-host.ts';
import { until } from '../until.ts';

/** Kills of the host in a run. */
export const KILLS = 3;
const AT_ONCE = 6;

/** `deliver` hands over a line of that text, each in a conversation of its own; nothing comes again. Resolves with the texts that were acknowledged. */
export async function deliverOverKills(
  host: RunningHost,
  deliver: (text: string, conversation: number) => Promise<Response>,
): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  for (let round = 1; round <= KILLS; round += 1) {
    const sent = Array.from({ length: AT_ONCE }, (_, n) => {
      const text = `line-${round}-${n}`;
      return deliver(text, 10 * round + n).then(
        ({ ok }) => void (ok && acknowledged.push(text)),
        () => {},
      );
    });
    await until(() => acknowledged.some((text) => text.startsWith(`line-${round}`)), {
      what: 'an acknowledgement',
      everyMs: 1,
    });
    await host.stop('SIGKILL');
    await Promise.all(sent);
    await host.start();
  }
  return acknowledged;
}
