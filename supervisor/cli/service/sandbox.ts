// Checks whether the kernel lets a user's systemd manager sandbox its services. That requires unprivileged user namespaces.
//
//   SANDBOX-1  Ubuntu from 23.10 creates such namespaces without privileges. A unit then silently runs without a sandbox, or ends with
//              226/NAMESPACE.
import { readFileSync } from 'node:fs';

/** Kernel settings, and the value of each that forbids user namespaces. */
const FORBIDDING: readonly (readonly [setting: string, value: string])[] = [
  ['kernel/apparmor_restrict_unprivileged_userns', '1'],
  ['kernel/unprivileged_userns_clone', '0'],
  ['user/max_user_namespaces', '0'],
];

/** Warnings for the operator. `read` returns a setting of /proc/sys; tests replace it. */
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
