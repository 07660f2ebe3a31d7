// What the fake host shows of checkpoints and releases.
import type { ReleasesApi } from '../../../worker/http/api/releases-api.ts';

export const CHECKPOINT = {
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
