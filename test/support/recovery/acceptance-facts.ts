// Facts of a host that is accepted in every row.
import type { AcceptanceFacts } from '../../../shared/api/recovery/acceptance.ts';

const HOST = {
  project: 'f67e',
  svc: '1.3.0',
  commit: '9f2a61b0c3de5f00',
  dirty: false,
  isRoot: true,
  configVersion: 'sha256:c0ffee00c0ffee00',
  lockfile: '41ab41ab41ab41ab',
} as const;

export const ACCEPTANCE_FACTS: AcceptanceFacts = {
  at: '2026-01-02T12:00:00.000Z',
  begin: '2026-01-01T12:00:00.000Z',
  release: null,
  isPaused: false,
  address: null,
  health: [{ url: 'http://127.0.0.1:8068/pub/health', status: 200, reason: null, ms: 2 }],
  host: HOST,
  accepted: {
    id: 3,
    at: '2026-01-01T00:00:00.000Z',
    host: HOST,
    capabilities: ['root/echo#on/message'],
    endpoints: ['root/irc:irc~libera'],
  },
  endpoints: [
    {
      id: 'root/irc:irc~libera',
      state: 'online',
      reason: null,
      remedy: null,
      isSandbox: false,
      handled: 2,
      open: 0,
      dead: 0,
      lastAt: '2026-01-02T11:59:00.000Z',
    },
  ],
  capability: {
    generation: 42,
    failure: null,
    capabilities: ['root/echo#on/message'],
    endpoints: ['root/irc:irc~libera'],
  },
  authority: {
    database: { project: 'f67e', epoch: 'aaaaaaaaaaaaaaaa' },
    served: { project: 'f67e', epoch: 'aaaaaaaaaaaaaaaa' },
    events: { oldest: 11, head: 40, first: 11, last: 40, count: 30 },
    journal: {
      store: 'file',
      project: 'f67e',
      head: { seq: 9, hash: 'abc' },
      appliedSeq: 9,
      verified: { at: '2026-01-02T10:00:00.000Z', seq: 9, hash: 'abc', faults: 0 },
    },
    jobs: { state: 'taken', reason: null, revision: 2 },
  },
  quiet: { dead: 4, diedSince: 0, critical: [], unknown: [] },
};
