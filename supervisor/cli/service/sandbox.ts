// Whether this kernel lets a user's manager wall its services in: that needs user namespaces for everybody.
//
//   X1  Ubuntu from 23.10 hands out such namespaces without their rights: a unit then runs unwalled without a word, or ends with 226/NAMESPACE.
import { readFileSync } from 'node:fs';

/** Settings, the value that forbids, and what they are called. */
const FORBIDDING: readonly (readonly [setting: string, value: string])[] = [
  ['kernel/apparmor_restrict_unprivileged_userns', '1'],
  ['kernel/unprivileged_userns_clone', '0'],
  ['user/max_user_namespaces', '0'],
];

/** What an operator should know; `read` gives a setting of /proc/sys, for tests. */
export function sandboxWarnings(read: (setting: string) => string = ofKernel): readonly string[] {
  return FORBIDDING.filter(([setting, value]) => read(setting) === value).map(
    ([setting, value]) =>
      `${setting.replace('/', '.')} is ${value}: under a user's manager the walls around the files may not hold, or the service ends with 226/NAMESPACE; a system service has them`,
  );
}

function ofKernel(setting: string): string {
  try {
    return readFileSync(`/proc/sys/${setting}`, 'utf8').trim();
  } catch {
    return ''; // this kernel has no such setting
  }
}
