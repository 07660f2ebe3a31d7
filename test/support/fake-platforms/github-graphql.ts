// The few questions of GraphQL about discussions that the fake GitHub answers: by the field that is asked for, whatever is selected of it.
import type { FakeComment, GithubAnswer, GithubData, GithubRequest } from './github-data.ts';

const CONTENTS = ['THUMBS_UP', 'THUMBS_DOWN', 'LAUGH', 'CONFUSED', 'HEART', 'HOORAY', 'ROCKET', 'EYES'];

/** 200 also for a refusal, as GraphQL has it. */
export function answerGraphql({ json, data, login }: GithubRequest): GithubAnswer {
  const query = String(json['query']);
  const variables = (json['variables'] ?? {}) as Readonly<Record<string, unknown>>;
  if (/^\{ viewer \{ login \} \}$/.test(query)) return good('viewer', { login });
  const field = /\{\s*(\w+)\s*\(/.exec(query)?.[1] ?? '';
  const run = FIELDS[field];
  if (run === undefined) return fault('undefinedField', `Field '${field}' doesn't exist`);
  return run({ data, login, variables, field });
}

interface Asked {
  readonly data: GithubData;
  readonly login: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly field: string;
}

const FIELDS: Readonly<Record<string, (asked: Asked) => GithubAnswer>> = {
  repository: discussion,
  addDiscussionComment: add,
  updateDiscussionComment: (asked) => change(asked, (comment, { body }) => Object.assign(comment, { body })),
  deleteDiscussionComment: (asked) => change(asked, (comment) => asked.data.remove(comment)),
  updateDiscussion(asked) {
    const subject = asked.data.subjects.find(({ node_id }) => node_id === asked.variables['id']);
    if (subject === undefined) return missing('NOT_FOUND');
    subject.body = String(asked.variables['body']);
    return good('updateDiscussion', { discussion: { id: subject.node_id } });
  },
  addReaction: react,
  removeReaction: react,
};

const good = (field: string, value: unknown): GithubAnswer => ({ status: 200, json: { data: { [field]: value } } });
const fault = (type: string, message: string): GithubAnswer => ({
  status: 200,
  json: { data: null, errors: [{ type, message, path: [], locations: [{ line: 1, column: 1 }] }] },
});
const missing = (type: string): GithubAnswer => fault(type, 'Could not resolve to a node with the global id');

const node = ({ node_id, id, body, user }: FakeComment, login: string): object => ({
  id: node_id,
  databaseId: id,
  body,
  viewerDidAuthor: user === login,
});

function discussion({ data, login, variables: { owner, repo, number } }: Asked): GithubAnswer {
  const repository = `${String(owner)}/${String(repo)}`;
  const found = data.subject(repository, Number(number));
  if (found?.kind !== 'discussion') return fault('NOT_FOUND', 'Could not resolve to a Discussion');
  const comments = data.comments.filter((one) => one.repository === repository && one.number === found.number);
  const nodes = comments
    .filter(({ root }) => root === undefined)
    .map((one) => ({
      ...node(one, login),
      replies: { nodes: comments.filter(({ root }) => root === one.id).map((reply) => node(reply, login)) },
    }));
  return good('repository', { discussion: { id: found.node_id, comments: { nodes: nodes.slice(-100) } } });
}

function add({ data, login, variables }: Asked): GithubAnswer {
  const subject = data.subjects.find(({ node_id }) => node_id === variables['discussion']);
  if (subject === undefined) return missing('NOT_FOUND');
  const parent = data.comments.find(({ node_id }) => node_id === variables['replyTo']);
  if (variables['replyTo'] !== undefined && (parent === undefined || parent.root !== undefined))
    return fault('UNPROCESSABLE', 'Parent comment is already in a thread, cannot reply to it');
  const { repository, number } = subject;
  const of = { kind: 'discussion', repository, number, user: login, body: String(variables['body']) } as const;
  const comment = data.comment(parent === undefined ? of : { ...of, root: parent.id });
  return good('addDiscussionComment', { comment: { id: comment.node_id, databaseId: comment.id } });
}

function change(
  { data, variables, field }: Asked,
  run: (comment: FakeComment, variables: Asked['variables']) => void,
): GithubAnswer {
  const comment = data.comments.find(({ node_id }) => node_id === variables['id']);
  if (comment === undefined) return missing('NOT_FOUND');
  run(comment, variables);
  return good(field, { comment: { id: comment.node_id } });
}

function react({ data, login, variables, field }: Asked): GithubAnswer {
  const [subject, content] = [String(variables['id']), String(variables['content'])];
  if (!CONTENTS.includes(content)) return fault('UNPROCESSABLE', 'content is not a reaction');
  const at = data.reactions.findIndex(
    (one) => one.subject === subject && one.content === content && one.user === login,
  );
  if (field === 'addReaction' && at === -1) data.reactions.push({ id: data.nextId(), subject, content, user: login });
  if (field === 'removeReaction' && at !== -1) data.reactions.splice(at, 1);
  return good(field, { subject: { id: subject } });
}
