// What the host takes of this room. Loaded half a minute after the start, or by the first question.
export { createAlertsAdmin } from './admin.ts';
export { Alerts, type AlertsDeps } from './alerts.ts';
export { expectedIn } from './expected.ts';
export { figureReader } from './figure-reader.ts';
