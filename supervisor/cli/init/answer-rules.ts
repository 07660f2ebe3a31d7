// Rules for answers to `svc init`, given as flags or on a terminal. Each returns undefined, or the rule that was broken.

export function wrongName(name: string): string | undefined {
  return /^(@[a-z0-9][a-z0-9._-]{0,99}\/)?[a-z0-9][a-z0-9._-]{0,99}$/.test(name) && name !== 'svc'
    ? undefined
    : "the name must be small letters, digits, '.', '_' and '-', perhaps in a scope (@team/bot), and not svc";
}

export function wrongPort(port: number): string | undefined {
  return Number.isInteger(port) && port >= 1 && port <= 65_535
    ? undefined
    : 'the port must be a whole number from 1 to 65535';
}
