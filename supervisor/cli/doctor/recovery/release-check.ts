// The check for a release that nobody has ended: until then it keeps its restore point and the code of before.
import { existsSync } from 'node:fs';
import type { LoadedConfig } from '../../../../shared/config/load.ts';
import { commandAfter } from '../../../../shared/recovery/release-machine.ts';
import { openRelease, stepTime } from '../../../../shared/recovery/release-record.ts';
import { coerceError } from '../../../../shared/svc-error.ts';
import { waitText } from '../../../../shared/time/wait-text.ts';
import { type Check, type Finding, fault, ok, type Subject, warn, withConfig } from '../check.ts';

export const RELEASE_CHECK: Check = {
  id: 'release.open',
  title: 'No release was left open',
  run: withConfig(open),
};

const HOUR_MS = 3_600_000;
const WINDOWS = 2;

function open({ config }: LoadedConfig, { paths }: Subject): Finding {
  if (!existsSync(paths.releasesDir)) return ok('none');
  try {
    const record = openRelease(paths.project);
    if (record === undefined) return ok('none');
    const ageMs = Date.now() - (stepTime(record, 'begun') ?? 0);
    const told = `${record.name} began ${waitText(ageMs)} ago and is ${record.state}`;
    const next = `svc release ${commandAfter(record.state) ?? 'status'}; svc release rollback goes back`;
    return ageMs > WINDOWS * config.release.windowHours * HOUR_MS ? warn(told, next) : ok(told);
  } catch (error) {
    const { message, hint } = coerceError(error);
    return fault(message, hint ?? 'svc release history');
  }
}
