// A Workroom of one board and one item, for tests of the HTTP interface without a database.
import type { WorkroomApi } from '../../../worker/http/api/workroom-api.ts';

const HEAD = { seq: 1, hash: 'hash-1' };
const AT = '2026-01-01T12:00:00.000Z';
const ITEM = {
  id: 'web-1',
  board: 'web',
  version: 1,
  status: 'open',
  state: 'open',
  due: null,
  overdue: false,
  createdAt: AT,
  changedAt: AT,
  blockers: [],
};
const VERIFIED = { at: AT, ...HEAD, ms: 1, faults: [] };
const EVENT = {
  seq: 1,
  id: 'c/1',
  stream: 'item/web-1',
  version: 1,
  kind: 'item.created',
  actor: 'token:main',
  cause: null,
};

export const fakeWorkroom = (): WorkroomApi => ({
  overview: async () => ({
    project: 'project-1',
    store: 'database',
    head: HEAD,
    verified: VERIFIED,
    boards: [{ board: 'web', states: { open: 1 } }],
    quarantined: [],
  }),
  items: async ({ texts }) => ({ items: [texts ? { ...ITEM, title: 'hello' } : ITEM] }),
  item: async (_id, texts) => (texts ? { ...ITEM, title: 'hello' } : ITEM),
  boards: async () => ({ boards: [{ id: 'web', version: 1, review: true, archived: false }] }),
  members: async () => ({ version: 0, members: [] }),
  events: async () => ({ events: [{ ...EVENT, at: AT, data: {}, texts: {}, digest: 'digest-1', hash: 'hash-1' }] }),
  command: async () => ({ stream: 'item/web-1', item: 'web-1', version: 2, state: 'open' }),
  code: async () => ({ code: 'code-1' }),
  erase: async () => ({ streams: 1, events: 2 }),
  verify: async () => VERIFIED,
});
