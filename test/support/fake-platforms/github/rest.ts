// The REST routes of the fake GitHub, by GitHub's documentation.
import { type FakeComment, type FakeHook, type GithubAnswer, type GithubRequest, problem } from './data.ts';

const MOST_CHARACTERS = 65_536;
const CONTENTS = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'];
const NOT_FOUND: GithubAnswer = { status: 404, json: problem('Not Found', 404) };
const GONE: GithubAnswer = { status: 204 };
const invalid = (message: string): GithubAnswer => ({ status: 422, json: problem(message, 422) });

interface Of extends GithubRequest {
  readonly repository: string;
  /** The numbers of the path, in order. */
  readonly ids: readonly number[];
}
type Route = readonly [method: string, path: string, run: (of: Of) => GithubAnswer];

const ROUTES: readonly Route[] = [
  ['POST', 'issues/#/comments', (of) => addComment(of, 'issue')],
  ['GET', 'issues/#/comments', (of) => listComments(of, (one) => one.kind === 'issue' && one.number === of.ids[0])],
  ['GET', 'issues/comments', (of) => listComments(of, (one) => one.kind === 'issue')],
  ['PATCH', 'issues/comments/#', (of) => editComment(of, 'issue')],
  ['DELETE', 'issues/comments/#', (of) => removeComment(of, 'issue')],
  ['PATCH', 'issues/#', editIssue],
  ['POST', 'pulls/#/comments/#/replies', (of) => addComment(of, 'review')],
  ['GET', 'pulls/#/comments', (of) => listComments(of, (one) => one.kind === 'review' && one.number === of.ids[0])],
  ['PATCH', 'pulls/comments/#', (of) => editComment(of, 'review')],
  ['DELETE', 'pulls/comments/#', (of) => removeComment(of, 'review')],
  ...['issues/#', 'issues/comments/#', 'pulls/comments/#'].flatMap((path): Route[] => [
    ['POST', `${path}/reactions`, addReaction],
    ['GET', `${path}/reactions`, listReactions],
    ['DELETE', `${path}/reactions/#`, removeReaction],
  ]),
  ['GET', 'hooks', listHooks],
  ['POST', 'hooks', addHook],
  ['PATCH', 'hooks/#', editHook],
  ['GET', 'hooks/#/deliveries', listDeliveries],
  ['POST', 'hooks/#/deliveries/#/attempts', redeliver],
];

export function answerRest(request: GithubRequest): GithubAnswer {
  if (request.method === 'GET' && request.path === '/user') return whoAmI(request);
  const whole = /^\/repos\/([^/]+\/[^/]+)$/.exec(request.path)?.[1];
  if (request.method === 'GET' && whole !== undefined) return repositoryOf(request, whole);
  const [, owner = '', repo = '', rest = ''] = /^\/repos\/([^/]+)\/([^/]+)\/(.*)$/.exec(request.path) ?? [];
  const pattern = rest.replaceAll(/(?<=\/|^)\d+(?=\/|$)/g, '#');
  const route = ROUTES.find(([method, path]) => method === request.method && path === pattern);
  const ids = [...rest.matchAll(/(?<=\/|^)\d+(?=\/|$)/g)].map(([digits]) => Number(digits));
  return route === undefined ? NOT_FOUND : route[2]({ ...request, repository: `${owner}/${repo}`, ids });
}

/** Classic tokens have their scopes, tokens of an installation may not ask. */
const whoAmI = ({ login, data }: GithubRequest): GithubAnswer =>
  login.endsWith('[bot]')
    ? { status: 403, json: problem('Resource not accessible by integration', 403) }
    : { status: 200, json: { login, id: 1, type: 'User' }, headers: data.tokenHeaders };

const repositoryOf = ({ data }: GithubRequest, name: string): GithubAnswer =>
  data.hidden.has(name)
    ? NOT_FOUND
    : { status: 200, json: { id: 1, full_name: name, private: true, archived: data.archived.has(name) } };

const wireOf = (comment: FakeComment): object => ({
  id: comment.id,
  node_id: comment.node_id,
  body: comment.body,
  user: { login: comment.user, id: 1, type: 'User' },
  created_at: comment.created_at,
  updated_at: comment.created_at,
  issue_url: `https://api.github.com/repos/${comment.repository}/issues/${comment.number}`,
  ...(comment.root === undefined ? {} : { in_reply_to_id: comment.root }),
});

function addComment(
  { data, repository, ids: [number = 0, root], json, login }: Of,
  kind: 'issue' | 'review',
): GithubAnswer {
  const subject = data.subject(repository, number);
  if (subject === undefined || subject.kind === 'discussion') return NOT_FOUND;
  if (kind === 'review' && !data.comments.some((one) => one.id === root && one.kind === 'review')) return NOT_FOUND;
  if (subject.locked) return { status: 403, json: problem('Unable to create comment because issue is locked.', 403) };
  const { body } = json;
  if (typeof body !== 'string' || body.trim() === '') return invalid('Validation Failed');
  if (body.length > MOST_CHARACTERS) return invalid('Body is too long (maximum is 65536 characters)');
  const of = { kind, repository, number, user: login, body };
  const comment = data.comment(root === undefined ? of : { ...of, root });
  const path = kind === 'issue' ? 'issues' : 'pulls';
  const location = `https://api.github.com/repos/${repository}/${path}/comments/${comment.id}`;
  return { status: 201, json: wireOf(comment), headers: { location } };
}

function listComments({ data, repository, query }: Of, isIn: (comment: FakeComment) => boolean): GithubAnswer {
  const found = data.comments.filter((one) => one.repository === repository && isIn(one));
  const isNewestFirst = query.get('sort') === 'created' && query.get('direction') === 'desc';
  const ordered = isNewestFirst ? found.toReversed() : found;
  return { status: 200, json: pageOf(query, ordered).map(wireOf) };
}

function pageOf<T>(query: URLSearchParams, all: readonly T[]): readonly T[] {
  const size = Math.min(100, Number(query.get('per_page') ?? 30));
  const from = (Number(query.get('page') ?? 1) - 1) * size;
  return all.slice(from, from + size);
}

const commentOf = ({ data, repository, ids: [id] }: Of, kind: FakeComment['kind']): FakeComment | undefined =>
  data.comments.find((one) => one.id === id && one.kind === kind && one.repository === repository);

function editComment(of: Of, kind: FakeComment['kind']): GithubAnswer {
  const comment = commentOf(of, kind);
  if (comment === undefined) return NOT_FOUND;
  if (typeof of.json['body'] !== 'string') return invalid('Validation Failed');
  comment.body = of.json['body'];
  return { status: 200, json: wireOf(comment) };
}

function removeComment(of: Of, kind: FakeComment['kind']): GithubAnswer {
  const comment = commentOf(of, kind);
  if (comment === undefined) return NOT_FOUND;
  of.data.remove(comment);
  return GONE;
}

function editIssue({ data, repository, ids: [number = 0], json }: Of): GithubAnswer {
  const subject = data.subject(repository, number);
  if (subject === undefined || subject.kind === 'discussion') return NOT_FOUND;
  if (typeof json['body'] === 'string') subject.body = json['body'];
  return { status: 200, json: { number, title: subject.title, body: subject.body } };
}

const reactedTo = ({ path }: Of): string => /\/repos\/[^/]+\/[^/]+\/(.*?)\/reactions/.exec(path)?.[1] ?? '';

function addReaction(of: Of): GithubAnswer {
  const content = String(of.json['content']);
  if (!CONTENTS.includes(content)) return invalid('Validation Failed');
  const subject = reactedTo(of);
  const known = of.data.reactions.find(
    (one) => one.subject === subject && one.content === content && one.user === of.login,
  );
  const reaction = known ?? { id: of.data.nextId(), subject, content, user: of.login };
  if (known === undefined) of.data.reactions.push(reaction);
  return { status: known === undefined ? 201 : 200, json: { id: reaction.id, content, user: { login: of.login } } };
}

function listReactions(of: Of): GithubAnswer {
  const content = of.query.get('content');
  const found = of.data.reactions.filter(
    (one) => one.subject === reactedTo(of) && (content === null || one.content === content),
  );
  const shown = pageOf(of.query, found);
  return { status: 200, json: shown.map((one) => ({ id: one.id, content: one.content, user: { login: one.user } })) };
}

function removeReaction(of: Of): GithubAnswer {
  const { reactions } = of.data;
  const at = reactions.findIndex((one) => one.id === of.ids.at(-1) && one.subject === reactedTo(of));
  if (at === -1) return NOT_FOUND;
  reactions.splice(at, 1);
  return GONE;
}

/** A secret is never shown again. */
const wireHook = ({ id, events, active, config }: FakeHook): object => ({
  id,
  type: 'Repository',
  name: 'web',
  active,
  events,
  config: { ...config, ...('secret' in config ? { secret: '********' } : {}) },
});

function listHooks({ data, repository }: Of): GithubAnswer {
  return { status: 200, json: data.hooks.filter((one) => one.repository === repository).map(wireHook) };
}

function addHook({ data, repository, json }: Of): GithubAnswer {
  const config = json['config'] as FakeHook['config'] | undefined;
  if (typeof config?.['url'] !== 'string') return invalid('Validation Failed');
  if (data.hooks.some((one) => one.repository === repository && one.config['url'] === config['url']))
    return invalid('Hook already exists on this repository');
  const hook: FakeHook = {
    id: data.nextId(),
    repository,
    config,
    events: (json['events'] as string[] | undefined) ?? ['push'],
    active: json['active'] !== false,
  };
  data.hooks.push(hook);
  return { status: 201, json: wireHook(hook) };
}

function editHook({ data, repository, ids: [id], json }: Of): GithubAnswer {
  const hook = data.hooks.find((one) => one.id === id && one.repository === repository);
  if (hook === undefined) return NOT_FOUND;
  hook.config = (json['config'] as FakeHook['config'] | undefined) ?? hook.config;
  hook.events = (json['events'] as string[] | undefined) ?? hook.events;
  if (typeof json['active'] === 'boolean') hook.active = json['active'];
  return { status: 200, json: wireHook(hook) };
}

/** Newest first, in pages, the next one by a cursor in Link. */
function listDeliveries({ data, path, query, ids: [id] }: Of): GithubAnswer {
  const found = data.deliveries.filter(({ hook }) => hook === id).toReversed();
  const from = Number(query.get('cursor')?.replace('v1_', '') ?? 0);
  const size = Math.min(Number(query.get('per_page') ?? 30), 100);
  const next = `<https://api.github.com${path}?per_page=${size}&cursor=v1_${from + size}>; rel="next"`;
  return {
    status: 200,
    ...(from + size < found.length ? { headers: { link: next } } : {}),
    json: found.slice(from, from + size).map((one) => ({
      ...one,
      redelivery: data.deliveries.some((other) => other.guid === one.guid && other.id < one.id),
      status: one.status_code < 300 && one.status_code >= 200 ? 'OK' : 'failed to connect to host',
      action: null,
    })),
  };
}

function redeliver({ data, path, ids: [hook] }: Of): GithubAnswer {
  const delivery = path.split('/').at(-2);
  const found = data.deliveries.find((one) => one.hook === hook && String(one.id) === delivery);
  if (found === undefined) return NOT_FOUND;
  data.redelivered.push(found.id);
  const status_code = data.reach?.(found.guid);
  if (status_code !== undefined) {
    const id = data.deliveries.map((one) => BigInt(one.id)).reduce((a, b) => (a > b ? a : b)) + 1n;
    data.deliveries.push({ ...found, id, status_code, delivered_at: new Date().toISOString() });
  }
  return { status: 202, json: {} };
}
