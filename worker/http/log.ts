// The part of pino's logger that the HTTP interface uses.

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

export interface HttpLog {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
