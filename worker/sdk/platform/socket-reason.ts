/** Why a connection broke, for people. OpenSSL's messages name memory addresses and source lines, so each one differs. This keeps only the cause. */
export function socketReason({ message }: Error): string {
  const [, told] = /:SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  return told === undefined ? message : `TLS: ${told}`;
}
