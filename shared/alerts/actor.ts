/** Of sends that tell alerts. They count in no rule: an alert must not raise the next one. */
export const ALERTS_ACTOR = 'host/alerts';
