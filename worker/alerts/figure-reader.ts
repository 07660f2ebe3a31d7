// The figures of a look: those of the rules, and some for whoever draws the last hour. The ages of checkpoints cost a read of every manifest, so they are read at each tenth look: their bounds are days.
import type { Sample } from '../../shared/alerts/history.ts';
import { type Series, seriesOf } from '../../shared/alerts/rule.ts';
import { ACTIVE_RULES } from '../../shared/alerts/rules.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { joined, readFigures } from '../metrics/recent.ts';

const SLOW = /^svc_checkpoint_/;
const EVERY = 10;

/** Of all accounts together: a series for each would leave no room for those of the rules. */
const DRAWN: readonly Series[] = [
  { name: 'svc_inbox_received_total' },
  { name: 'svc_inbox_pending' },
  { name: 'svc_outbox_attempts_total', where: { outcome: ['sent'] } },
  { name: 'svc_outbox_pending' },
];
const FIGURES: readonly Series[] = ACTIVE_RULES.flatMap(seriesOf);
const OFTEN = FIGURES.filter(({ name }) => !SLOW.test(name));
const SELDOM = FIGURES.filter(({ name }) => SLOW.test(name));

export function figureReader(registry: Metrics['registry']): () => Promise<Sample> {
  let looks = 0;
  let seldom: Sample = { readings: [], unread: [] };
  return async () => {
    if (looks % EVERY === 0 || seldom.unread.length > 0) seldom = await readFigures(registry, SELDOM);
    looks += 1;
    return joined([await readFigures(registry, OFTEN), seldom, summed(await readFigures(registry, DRAWN))]);
  };
}

function summed({ readings, unread }: Sample): Sample {
  const sums = new Map<string, number>();
  for (const { name, value } of readings) sums.set(name, (sums.get(name) ?? 0) + value);
  return { readings: [...sums].map(([name, value]) => ({ name, labels: {}, value })), unread };
}
