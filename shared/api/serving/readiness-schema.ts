// Name and version of the readiness report. Apart from the schema itself, so that a command that compares it loads no schemas.
export const READINESS_SCHEMA = 'svc.readiness/1';
