// Discussions over GraphQL, since REST does not offer them. One query finds the discussion and its newest comments.
// These comments contain the thread of a reply, and a comment that an earlier attempt may have posted.
import type { SendResult } from '../../sdk/index.ts';
import { hasMark, withMark } from './marker.ts';
import { messageNameOf } from './names.ts';
import { graphqlReaction, reactionOf } from './reactions.ts';
import { type Post, refused, SENT, type Sent, type Target } from './target.ts';

const FIND = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    discussion(number: $number) {
      id
      comments(last: 100) {
        nodes { id databaseId body viewerDidAuthor replies(last: 50) { nodes { id body viewerDidAuthor } } }
      }
    }
  }
}`;
const ADD = `mutation ($discussion: ID!, $replyTo: ID, $body: String!) {
  addDiscussionComment(input: { discussionId: $discussion, replyToId: $replyTo, body: $body }) { comment { id } }
}`;
const EDIT = `mutation ($id: ID!, $body: String!) {
  updateDiscussionComment(input: { commentId: $id, body: $body }) { comment { id } }
}`;
const EDIT_BODY = `mutation ($id: ID!, $body: String!) {
  updateDiscussion(input: { discussionId: $id, body: $body }) { discussion { id } }
}`;
const REMOVE = `mutation ($id: ID!) { deleteDiscussionComment(input: { id: $id }) { comment { id } } }`;
const react = (mutation: 'addReaction' | 'removeReaction'): string =>
  `mutation ($id: ID!, $content: ReactionContent!) { ${mutation}(input: { subjectId: $id, content: $content }) { subject { id } } }`;

interface Node {
  readonly id: string;
  readonly body: string;
  readonly viewerDidAuthor: boolean;
}
interface Found {
  readonly repository: {
    readonly discussion: {
      readonly id: string;
      readonly comments: {
        readonly nodes: readonly (Node & {
          readonly databaseId: number | null;
          readonly replies: { readonly nodes: readonly Node[] };
        })[];
      };
    } | null;
  } | null;
}

export async function sendToDiscussion(call: Sent, target: Target): Promise<SendResult> {
  const { graphql } = target.api;
  if (call.kind === 'post') return post(call, target);
  const name = messageNameOf(call.message ?? '');
  if (name?.kind !== 'discussion' && name?.kind !== 'discussion-comment')
    return refused(`there is no message ${call.message ?? ''} in a discussion`);
  switch (call.kind) {
    case 'edit':
      await graphql(name.kind === 'discussion' ? EDIT_BODY : EDIT, { id: name.node, body: call.text });
      return SENT;
    case 'remove':
      if (name.kind === 'discussion') return refused('GitHub removes comments alone');
      await graphql(REMOVE, { id: name.node }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      return SENT;
    case 'react': {
      const reaction = reactionOf(call.emoji);
      if (reaction === undefined) return refused('GitHub has no such reaction');
      const mutation = call.on ? 'addReaction' : 'removeReaction';
      await graphql(react(mutation), { id: name.node, content: graphqlReaction(reaction) });
      return SENT;
    }
  }
}

/** A missing comment counts as removed, as in an issue. */
const isMissing = (error: unknown): boolean =>
  (error as { readonly errors?: readonly { readonly type?: string }[] }).errors?.[0]?.type === 'NOT_FOUND';

async function post(call: Post, { api: { graphql }, place: { owner, repo, number } }: Target): Promise<SendResult> {
  const found = await graphql<Found>(FIND, { owner, repo, number });
  const discussion = found.repository?.discussion;
  if (discussion === undefined || discussion === null)
    return refused(`there is no discussion ${owner}/${repo} ${number}`);
  const comments = discussion.comments.nodes;
  const all = comments.flatMap((comment) => [comment, ...comment.replies.nodes]);
  const before =
    call.repeat === true ? all.find((one) => one.viewerDidAuthor && hasMark(one.body, call.key)) : undefined;
  if (before !== undefined) return { kind: 'sent', message: `discussion-comment:${before.id}` };
  const replyTo = threadOf(call.thread, comments);
  const body = withMark(call.text, call.key);
  const made = await graphql<{ readonly addDiscussionComment: { readonly comment: { readonly id: string } | null } }>(
    ADD,
    {
      discussion: discussion.id,
      body,
      ...(replyTo === undefined ? {} : { replyTo }),
    },
  );
  const { comment } = made.addDiscussionComment;
  return comment === null ? SENT : { kind: 'sent', message: `discussion-comment:${comment.id}` };
}

type Comments = NonNullable<NonNullable<Found['repository']>['discussion']>['comments']['nodes'];

/** The first comment of a thread. If that is older than the newest hundred, undefined: the reply goes into the discussion itself. */
function threadOf(thread: string | undefined, comments: Comments): string | undefined {
  const name = thread === undefined ? undefined : messageNameOf(thread);
  if (name?.kind === 'discussion-thread') return comments.find(({ databaseId }) => databaseId === name.id)?.id;
  if (name?.kind !== 'discussion-comment') return undefined;
  // GitHub nests replies one level deep. A thread under a reply continues in the thread of that reply.
  return comments.find(({ id, replies }) => id === name.node || replies.nodes.some((reply) => reply.id === name.node))
    ?.id;
}
