// What the fake host shows of checkpoints and releases.
import type { CheckpointsApi } from '../../../worker/http/api/checkpoints-api.ts';
import type { ReleasesApi } from '../../../worker/http/api/releases-api.ts';

const CHECKPOINT = {
  name: 'c1',
  createdAt: '2026-01-02T00:00:00.000Z',
  bytes: 5,
  level: 'made',
  verifiedAt: null,
  fault: null,
} as const;

const RELEASE = {
  name: 'r1',
  state: 'begun',
  since: '2026-01-02T00:00:00.000Z',
  restorePoint: 'c1',
  windowUntil: null,
  verdict: null,
  next: 'svc release check',
  fault: null,
} as const;

export const FAKE_RELEASES: ReleasesApi = {
  list: async () => ({ releases: [RELEASE] }),
  show: async () => RELEASE,
};

const STATE = { epoch: 'e1', head: 10, schema: 15, project: 'p1', journal: 0 };
const PLAN = {
  purpose: 'restore',
  name: 'c1',
  createdAt: '2026-11-28T02:00:00.000Z',
  level: 'rehearsed',
  verifiedAt: '2026-11-28T02:04:00.000Z',
  made: { svc: '0.1.0', commit: null },
  past: STATE,
  now: STATE,
  unreadable: null,
  isBreaking: false,
  commit: null,
  isConfigSame: true,
  configKeys: [],
  isLockfileSame: null,
  secrets: [],
  lost: { events: 0, handled: 0, plugins: 0, journal: null, jobs: 0, tasks: 0, sends: 0, accounts: 0 },
  notUndone: { sends: {} },
  comesAlong: { received: 0, waitingSends: 0, waitingTasks: 0, ids: 0, endedItems: 0, endedSends: 0, tasks: 0 },
  notHeld: {},
  open: null,
  bytes: 4096,
  digest: '0123456789abcdef',
};

export const fakeCheckpoints = (calls: string[]): CheckpointsApi => ({
  list: async () => ({ checkpoints: [CHECKPOINT], running: null, last: null, failure: null, next: null }),
  show: async () => CHECKPOINT,
  plan: async () => PLAN,
  create: async () => {
    calls.push('checkpoints.create');
    return { name: 'c2' };
  },
  verify: async (_caller, name) => {
    calls.push(`checkpoints.verify ${name}`);
    return { name };
  },
});
