// GraphQL as GitHub answers it: read, checked and selected by the schema that GitHub publishes (@octokit/graphql-schema), so that a question which
// GitHub would not understand is none here either. What there is behind the schema is about discussions.
import { readFileSync } from 'node:fs';
import { buildSchema, GraphQLError, type GraphQLSchema, graphqlSync } from 'graphql';
import type { FakeComment, FakeSubject, GithubAnswer, GithubData, GithubRequest } from './data.ts';

interface Asker {
  readonly data: GithubData;
  readonly login: string;
}
type Input = Readonly<Record<string, string | undefined>>;
interface Page {
  readonly first?: number;
  readonly last?: number;
}

const MOST_NODES = 100;
let published: GraphQLSchema | undefined;

/** Read when it is first asked for: it takes half a second. */
function schemaOf(): GraphQLSchema {
  const file = new URL('schema.graphql', import.meta.resolve('@octokit/graphql-schema'));
  const options = { assumeValid: true, assumeValidSDL: true, noLocation: true };
  published ??= buildSchema(readFileSync(file, 'utf8'), options);
  return published;
}

/** 200 also for a refusal, as GraphQL has it. */
export function answerGraphql({ json, data, login }: GithubRequest): GithubAnswer {
  const { errors, data: found } = graphqlSync({
    schema: schemaOf(),
    source: String(json['query']),
    variableValues: (json['variables'] ?? {}) as Readonly<Record<string, unknown>>,
    rootValue: { ...questions({ data, login }), ...mutations({ data, login }) },
  });
  const told = errors?.map(({ message, path, locations, extensions }) => ({ ...extensions, message, path, locations }));
  return { status: 200, json: { ...(found === undefined ? {} : { data: found }), ...(told && { errors: told }) } };
}

/** Has its type beside its message, as GitHub's own errors have. */
const fault = (type: string, message: string): GraphQLError => new GraphQLError(message, { extensions: { type } });
const missing = (id: unknown): GraphQLError =>
  fault('NOT_FOUND', `Could not resolve to a node with the global id of '${String(id)}'`);

const questions = ({ data, login }: Asker) => ({
  viewer: { login },
  repository({ owner, name }: Input) {
    const repository = `${owner}/${name}`;
    if (!data.subjects.some((one) => one.repository === repository))
      throw fault('NOT_FOUND', `Could not resolve to a Repository with the name '${repository}'.`);
    return {
      discussion({ number }: { readonly number: number }) {
        const found = data.subject(repository, number);
        if (found?.kind !== 'discussion')
          throw fault('NOT_FOUND', `Could not resolve to a Discussion with the number of ${number}.`);
        return discussion(found, { data, login });
      },
    };
  },
});

const mutations = ({ data, login }: Asker) => ({
  addDiscussionComment({ input }: { readonly input: Input }) {
    const subject = data.subjects.find(({ node_id }) => node_id === input['discussionId']);
    if (subject === undefined) throw missing(input['discussionId']);
    const { replyToId } = input;
    const parent = data.comments.find(({ node_id }) => node_id === replyToId);
    if (replyToId !== undefined && (parent === undefined || parent.root !== undefined))
      throw fault('UNPROCESSABLE', 'Parent comment is already in a thread, cannot reply to it');
    const { repository, number } = subject;
    const of = { kind: 'discussion', repository, number, user: login, body: input['body'] ?? '' } as const;
    return { comment: shown(data.comment(parent === undefined ? of : { ...of, root: parent.id }), { data, login }) };
  },
  updateDiscussionComment({ input }: { readonly input: Input }) {
    const comment = commentOf(data, input['commentId']);
    comment.body = input['body'] ?? '';
    return { comment: shown(comment, { data, login }) };
  },
  deleteDiscussionComment({ input }: { readonly input: Input }) {
    const comment = commentOf(data, input['id']);
    data.remove(comment);
    return { comment: shown(comment, { data, login }) };
  },
  updateDiscussion({ input }: { readonly input: Input }) {
    const subject = data.subjects.find(({ node_id }) => node_id === input['discussionId']);
    if (subject === undefined) throw missing(input['discussionId']);
    subject.body = input['body'] ?? subject.body;
    return { discussion: discussion(subject, { data, login }) };
  },
  addReaction: ({ input }: { readonly input: Input }) => react(input, { data, login, on: true }),
  removeReaction: ({ input }: { readonly input: Input }) => react(input, { data, login, on: false }),
});

function commentOf(data: GithubData, id: string | undefined): FakeComment {
  const comment = data.comments.find(({ node_id }) => node_id === id);
  if (comment === undefined) throw missing(id);
  return comment;
}

function discussion({ node_id, repository, number, title, body }: FakeSubject, asker: Asker): object {
  const comments = asker.data.comments.filter((one) => one.repository === repository && one.number === number);
  const top = comments.filter(({ root }) => root === undefined).map((one) => shown(one, asker));
  return { id: node_id, number, title, body, comments: (page: Page) => connection('comments', top, page) };
}

function shown({ node_id, id, body, user, created_at }: FakeComment, asker: Asker): object {
  const replies = asker.data.comments.filter(({ root }) => root === id);
  return {
    id: node_id,
    databaseId: id,
    body,
    createdAt: created_at,
    author: { __typename: 'User', login: user },
    viewerDidAuthor: user === asker.login,
    replies: (page: Page) =>
      connection(
        'replies',
        replies.map((reply) => shown(reply, asker)),
        page,
      ),
  };
}

/** GitHub gives no page without a bound, and none of more than a hundred. */
// oxlint-disable-next-line max-params -- name, what it holds, and what is asked of it
function connection(name: string, all: readonly object[], { first, last }: Page): object {
  const count = first ?? last;
  if (count === undefined)
    throw fault(
      'MISSING_PAGINATION_BOUNDARIES',
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
    );
  if (count > MOST_NODES)
    throw fault(
      'EXCESSIVE_PAGINATION',
      `Requesting ${count} records on the \`${name}\` connection exceeds the \`first\` limit of ${MOST_NODES} records.`,
    );
  return { totalCount: all.length, nodes: first === undefined ? all.slice(-count) : all.slice(0, count) };
}

function react(
  { subjectId: subject = '', content = '' }: Input,
  { data, login, on }: Asker & { readonly on: boolean },
): object {
  const isThere = [...data.subjects, ...data.comments].some(({ node_id }) => node_id === subject);
  if (!isThere) throw missing(subject);
  const at = data.reactions.findIndex(
    (one) => one.subject === subject && one.content === content && one.user === login,
  );
  if (on && at === -1) data.reactions.push({ id: data.nextId(), subject, content, user: login });
  if (!on && at !== -1) data.reactions.splice(at, 1);
  const __typename = data.comments.some(({ node_id }) => node_id === subject) ? 'DiscussionComment' : 'Discussion';
  return { subject: { __typename, id: subject } };
}
