/** Why a connection broke, for people. What OpenSSL says of itself names its memory, its sources and a line of them: another text each time. */
export function socketReason({ message }: Error): string {
  const [, told] = /:SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  return told === undefined ? message : `TLS: ${told}`;
}
