// What the HTTP interface asks of a logger: the part of pino's that it uses.

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

export interface HttpLog {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
