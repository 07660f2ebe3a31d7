// The chat page and `svc chat`. Full scope, because texts of people are shown. The routes exist only if the host has a sandbox account.
import { SvcError } from '../../../shared/svc-error.ts';
import type { ChatApi } from '../api/chat-api.ts';
import type { HostApi } from '../api/host-api.ts';
import { integerOf } from '../request/query-check.ts';
import { type Answer, type Located, type LocateRequest, type QueryField, route } from './route.ts';

const takenAs = (taken: unknown): Answer => ({ status: 202, json: taken });

const locate = ({ port }: LocateRequest): Located => (port.chat === undefined ? undefined : { kind: 'here' });

const MESSAGE_QUERY = {
  person: { type: 'string', description: 'Who is chatting', maxLength: 100 },
  room: { type: 'string', description: 'A room; left out: the private conversation', maxLength: 100 },
  after: {
    type: 'integer',
    description: 'Messages that changed after this number, the earliest changes first; left out: the newest messages',
    minimum: 0,
    maximum: 999_999_999_999_999,
  },
  limit: { type: 'integer', description: 'How many at most', minimum: 1, maximum: 500, default: 200 },
} as const satisfies Record<string, QueryField>;

export const chatRoutes = [
  route({
    method: 'POST',
    path: '/api/chat/say',
    scope: 'full',
    summary: 'Says something as a person; stored before it is answered',
    body: 'ChatSay',
    changes: true,
    locate,
    ofGeneration: true,
    answers: { 202: 'ChatTaken', 503: 'Problem' },
    handle: async ({ port, body, keep }) =>
      takenAs(await chatOf(port).say({ room: body.room, ...body }, keep(takenAs))),
  }),
  route({
    method: 'POST',
    path: '/api/chat/press',
    scope: 'full',
    summary: 'Presses a button of a message',
    body: 'ChatPress',
    changes: true,
    locate,
    ofGeneration: true,
    answers: { 202: 'ChatTaken', 503: 'Problem' },
    handle: async ({ port, body, keep }) =>
      takenAs(await chatOf(port).press({ room: body.room, ...body }, keep(takenAs))),
  }),
  route({
    method: 'GET',
    path: '/api/chat/messages',
    scope: 'full',
    summary: 'The newest messages of a conversation, or those after a cursor, oldest first',
    query: MESSAGE_QUERY,
    locate,
    ofGeneration: true,
    answers: { 200: 'ChatMessages', 503: 'Problem' },
    handle: async ({ port, query }) => {
      const { person, room } = query;
      if (person === undefined || person === '')
        throw new SvcError('invalid_request', 'the parameter person is needed');
      const after = query.after === undefined ? undefined : integerOf(query, 'after', MESSAGE_QUERY);
      const limit = integerOf(query, 'limit', MESSAGE_QUERY);
      return { status: 200, json: await chatOf(port).messages({ person, room, after, limit }) };
    },
  }),
];

function chatOf(port: HostApi): ChatApi {
  if (port.chat === undefined) throw new SvcError('not_found', 'this host has no chat');
  return port.chat;
}
