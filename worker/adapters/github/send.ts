// Sends one comment, or one change of a comment. Discussions use GraphQL, everything else REST.
import { errorCode } from '../../sdk/errors.ts';
import type { Outgoing, SendResult } from '../../sdk/index.ts';
import { type GithubLink, sendBy } from './client.ts';
import { sendToDiscussion } from './discussions.ts';
import { hasMark, withMark } from './marker.ts';
import { type MessageName, messageNameOf, placeOf } from './names.ts';
import { ALL_REACTIONS, type Reaction, reactionOf } from './reactions.ts';
import { type Post, refused, SENT, type Sent, type Target } from './target.ts';
import { isUnanswered, verifyLogin } from './whose-token.ts';

const NEWEST = { sort: 'created', direction: 'desc', per_page: 100 } as const;

/** Throws if the outcome is unknown. Throws `accountFailed` if GitHub refuses the token. */
export async function send(call: Outgoing, link: GithubLink): Promise<SendResult> {
  const place = placeOf(call.conversation);
  if (place === undefined)
    return refused(
      'a comment needs an issue, pull request or discussion: owner/repo#number or owner/repo/discussions#number',
    );
  if (call.kind === 'typing') return refused('GitHub has no typing');
  if (call.kind === 'react' && reactionOf(call.emoji) === undefined)
    return refused(`GitHub has these reactions alone: ${ALL_REACTIONS}`);
  const untold = await stillUntold(link);
  if (untold !== undefined) return untold;
  return sendBy(link, async (api) =>
    place.isDiscussion
      ? sendToDiscussion(call, { api, place })
      : sendToIssue(call, { api, place, login: link.account.login }),
  );
}

const UNTOLD_WAIT_MS = 5_000;

/** Returns `later` while GitHub does not confirm the token's owner. Under another login the bot would answer its own comments. */
async function stillUntold(link: GithubLink): Promise<SendResult | undefined> {
  if (!isUnanswered(link)) return undefined;
  try {
    await verifyLogin(link);
    return undefined;
  } catch (error) {
    if (errorCode(error) === 'account_failed') throw error;
    return { kind: 'later', afterMs: UNTOLD_WAIT_MS, account: true };
  }
}

type IssueTarget = Target & { readonly login: string };

async function sendToIssue(call: Sent, target: IssueTarget): Promise<SendResult> {
  if (call.kind === 'post') return post(call, target);
  const name = messageNameOf(call.message ?? '');
  if (name === undefined) return refused(`GitHub has no message ${call.message ?? ''}`);
  switch (call.kind) {
    case 'edit':
      return edit(name, call.text, target);
    case 'remove':
      return remove(name, target);
    case 'react':
      return react(name, { reaction: reactionOf(call.emoji), on: call.on }, target);
  }
}

async function post(call: Post, target: IssueTarget): Promise<SendResult> {
  const { request } = target.api;
  const { owner, repo, number } = target.place;
  const thread = call.thread === undefined ? undefined : messageNameOf(call.thread);
  const body = withMark(call.text, call.key);
  if (thread?.kind === 'review-comment') {
    const before = call.repeat === true ? await madeInReview(call.key, target) : undefined;
    if (before !== undefined) return { kind: 'sent', message: `review-comment:${before}` };
    const of = { owner, repo, pull_number: number, comment_id: thread.id };
    const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies';
    const { data } = await request(route, { ...of, body });
    return { kind: 'sent', message: `review-comment:${data.id}` };
  }
  const before = call.repeat === true ? await madeInIssue(call.key, target) : undefined;
  if (before !== undefined) return { kind: 'sent', message: `comment:${before}` };
  const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const { data } = await request(route, { owner, repo, issue_number: number, body });
  return { kind: 'sent', message: `comment:${data.id}` };
}

/** Only comments of the account count, since another person may copy a mark. */
const isOurs = (user: { readonly login: string } | null | undefined, { login }: IssueTarget): boolean =>
  user?.login.toLowerCase() === login.toLowerCase();

/** Searches the newest comments of the whole repository. GitHub lists comments of one issue oldest first. */
async function madeInIssue(key: string, target: IssueTarget): Promise<number | bigint | undefined> {
  const { owner, repo, number } = target.place;
  const { data } = await target.api.request('GET /repos/{owner}/{repo}/issues/comments', { owner, repo, ...NEWEST });
  const found = data.find(
    ({ body, user, issue_url }) =>
      hasMark(body, key) && isOurs(user, target) && issue_url.endsWith(`/issues/${number}`),
  );
  return found?.id;
}

async function madeInReview(key: string, target: IssueTarget): Promise<number | bigint | undefined> {
  const { owner, repo, number } = target.place;
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments';
  const { data } = await target.api.request(route, { owner, repo, pull_number: number, ...NEWEST });
  return data.find(({ body, user }) => hasMark(body, key) && isOurs(user, target))?.id;
}

async function edit(name: MessageName, body: string, { api, place }: Target): Promise<SendResult> {
  const { owner, repo, number } = place;
  switch (name.kind) {
    case 'body':
      await api.request('PATCH /repos/{owner}/{repo}/issues/{issue_number}', {
        owner,
        repo,
        issue_number: number,
        body,
      });
      return SENT;
    case 'comment':
      await api.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
        owner,
        repo,
        comment_id: name.id,
        body,
      });
      return SENT;
    case 'review-comment':
      await api.request('PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}', {
        owner,
        repo,
        comment_id: name.id,
        body,
      });
      return SENT;
    case 'review': {
      const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}';
      await api.request(route, { owner, repo, pull_number: number, review_id: name.id, body });
      return SENT;
    }
    default:
      return refused('this is in a discussion');
  }
}

/** A missing comment counts as removed. */
async function remove(name: MessageName, { api, place }: Target): Promise<SendResult> {
  const { owner, repo } = place;
  if (name.kind !== 'comment' && name.kind !== 'review-comment') return refused('GitHub removes comments alone');
  const of = { owner, repo, comment_id: name.id };
  try {
    if (name.kind === 'comment') await api.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', of);
    else await api.request('DELETE /repos/{owner}/{repo}/pulls/comments/{comment_id}', of);
  } catch (error) {
    if ((error as { readonly status?: number }).status !== 404) throw error;
  }
  return SENT;
}

/** GitHub's largest page. */
const PAGE = 100;

async function react(
  name: MessageName,
  { reaction, on }: { readonly reaction: Reaction | undefined; readonly on: boolean },
  { api: { request }, place, login }: IssueTarget,
): Promise<SendResult> {
  const { owner, repo, number } = place;
  const path = reactionsOf(name, number);
  if (path === undefined || reaction === undefined) return refused('GitHub has no reactions to this');
  const url = `/repos/{owner}/{repo}/${path}/reactions`;
  if (on) {
    await request(`POST ${url}`, { owner, repo, content: reaction });
    return SENT;
  }
  for (let page = 1; ; page += 1) {
    const { data } = await request(`GET ${url}`, { owner, repo, content: reaction, per_page: PAGE, page });
    const all = data as readonly { readonly id: number; readonly user: { readonly login: string } | null }[];
    const ours = all.find(({ user }) => user?.login.toLowerCase() === login.toLowerCase());
    if (ours !== undefined) await request(`DELETE ${url}/{reaction_id}`, { owner, repo, reaction_id: ours.id });
    if (ours !== undefined || all.length < PAGE) return SENT;
  }
}

function reactionsOf(name: MessageName, number: number): string | undefined {
  switch (name.kind) {
    case 'body':
      return `issues/${number}`;
    case 'comment':
      return `issues/comments/${name.id}`;
    case 'review-comment':
      return `pulls/comments/${name.id}`;
    default:
      return undefined;
  }
}
