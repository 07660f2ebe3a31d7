// What the host takes of this room. Loaded half a minute after the start, or by the first question.
import { seriesOf } from '../../shared/alerts/rule.ts';
import { ACTIVE_RULES } from '../../shared/alerts/rules.ts';

export { readFigures } from '../metrics/recent.ts';
export { createAlertsAdmin } from './admin.ts';
export { Alerts, type AlertsDeps } from './alerts.ts';
export { expectedIn } from './expected.ts';

/** Names of all figures that rules read. */
export const FIGURES: ReadonlySet<string> = new Set(ACTIVE_RULES.flatMap(seriesOf).map(({ name }) => name));
