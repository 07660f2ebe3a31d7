// All checks of `svc doctor`, in the order in which they run. A test requires a failing fixture for each of them.
import type { Check } from './check.ts';
import { EDGE_CHECKS } from './edge-checks.ts';
import { JOBS_CHECKS } from './jobs-checks.ts';
import { MACHINE_CHECKS } from './machine-checks.ts';
import { PROJECT_CHECKS } from './project-checks.ts';
import { RUNTIME_CHECKS } from './runtime-checks.ts';
import { STATE_CHECKS } from './state-checks.ts';

export const CHECKS: readonly Check[] = [
  ...PROJECT_CHECKS,
  ...STATE_CHECKS,
  ...JOBS_CHECKS,
  ...RUNTIME_CHECKS,
  ...MACHINE_CHECKS,
  ...EDGE_CHECKS,
];
