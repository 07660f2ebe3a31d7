// What the host takes of this room. Loaded half a minute after the start, or by the first question.
import { type Series, seriesOf } from '../../shared/alerts/rule.ts';
import { ACTIVE_RULES } from '../../shared/alerts/rules.ts';

export { readFigures } from '../metrics/recent.ts';
export { createAlertsAdmin } from './admin.ts';
export { Alerts, type AlertsDeps } from './alerts.ts';
export { expectedIn } from './expected.ts';

/** All figures that rules read. */
export const FIGURES: readonly Series[] = ACTIVE_RULES.flatMap(seriesOf);
