// All checks of `svc doctor`, in the order in which they run. A test requires a failing fixture for each of them.
import type { Check } from './check.ts';
import { DEAD_CHECKS } from './dead-checks.ts';
import { DEPLOY_CHECK } from './deploy/deploy-check.ts';
import { EDGE_CHECKS } from './edge/edge-checks.ts';
import { JOBS_CHECKS } from './jobs-checks.ts';
import { MACHINE_CHECKS } from './machine-checks.ts';
import { PACKAGE_CHECKS } from './package-checks.ts';
import { PLUGIN_CHECKS } from './plugin-checks.ts';
import { PROJECT_CHECKS } from './project-checks.ts';
import { CHECKPOINT_CHECKS } from './recovery/checkpoint-checks.ts';
import { RELEASE_CHECK } from './recovery/release-check.ts';
import { SWITCH_CHECK } from './recovery/switch-check.ts';
import { RUNTIME_CHECKS } from './runtime-checks.ts';
import { STATE_CHECKS } from './state-checks.ts';

export const CHECKS: readonly Check[] = [
  ...PROJECT_CHECKS,
  ...PACKAGE_CHECKS,
  ...PLUGIN_CHECKS,
  ...STATE_CHECKS,
  ...DEAD_CHECKS,
  ...JOBS_CHECKS,
  ...CHECKPOINT_CHECKS,
  SWITCH_CHECK,
  RELEASE_CHECK,
  DEPLOY_CHECK,
  ...RUNTIME_CHECKS,
  ...MACHINE_CHECKS,
  ...EDGE_CHECKS,
];
