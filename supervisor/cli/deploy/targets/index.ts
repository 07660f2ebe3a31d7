// The targets of `svc deploy init`, by name.
import type { DeployTarget } from '../target.ts';

export const TARGETS: Readonly<Record<string, () => Promise<{ readonly target: DeployTarget }>>> = {
  compose: () => import('./compose.ts'),
  monitoring: () => import('./monitoring.ts'),
  kubernetes: () => import('./kubernetes.ts'),
  launchd: () => import('./launchd.ts'),
  proxy: () => import('./proxy.ts'),
  systemd: () => import('./systemd.ts'),
};
