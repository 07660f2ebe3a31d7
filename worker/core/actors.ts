// Actors of the host itself that more than one room knows.

/** Of the messages that tell of alerts. No alert is about them. */
export const ALERTS_ACTOR = 'host/alerts';
