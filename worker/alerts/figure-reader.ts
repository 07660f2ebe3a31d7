// The figures of a look. The ages of checkpoints cost a read of every manifest, so they are read at each tenth look: their bounds are days.
import type { Reading } from '../../shared/alerts/history.ts';
import { type Series, seriesOf } from '../../shared/alerts/rule.ts';
import { ACTIVE_RULES } from '../../shared/alerts/rules.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readFigures } from '../metrics/recent.ts';

const SLOW = /^svc_checkpoint_/;
const EVERY = 10;

const FIGURES: readonly Series[] = ACTIVE_RULES.flatMap(seriesOf);
const OFTEN = FIGURES.filter(({ name }) => !SLOW.test(name));
const SELDOM = FIGURES.filter(({ name }) => SLOW.test(name));

export function figureReader(registry: Metrics['registry']): () => Promise<readonly Reading[]> {
  let looks = 0;
  let seldom: readonly Reading[] = [];
  return async () => {
    if (looks % EVERY === 0) seldom = await readFigures(registry, SELDOM);
    looks += 1;
    return [...(await readFigures(registry, OFTEN)), ...seldom];
  };
}
