// The fake GitHub, driven by GitHub's own client: what it answers is what that client understands, before our adapter is let at it.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Octokit } from '@octokit/core';
import { FakeGithub } from '../../support/fake-platforms/github.ts';

const OF = { owner: 'octo', repo: 'hello' };
const ADD = `mutation ($discussion: ID!, $body: String!, $replyTo: ID) {
  addDiscussionComment(input: { discussionId: $discussion, body: $body, replyToId: $replyTo }) { comment { id } }
}`;
const REACT = `mutation ($id: ID!) { addReaction(input: { subjectId: $id, content: HEART }) { subject { __typename } } }`;
const FIND = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) {
      comments(first: 10) { totalCount nodes { body author { login } replies(last: 5) { nodes { body } } } }
    }
  }
}`;
interface Added {
  readonly addDiscussionComment: { readonly comment: { readonly id: string } };
}

async function fakeWith(t: TestContext): Promise<{ readonly github: FakeGithub; readonly octokit: Octokit }> {
  const github = await new FakeGithub({ 'ghp-good': 'octocat' }).start(t);
  github.data.open('octo/hello', 7);
  return { github, octokit: new Octokit({ auth: 'ghp-good', baseUrl: github.url }) };
}

describe("the fake GitHub, by GitHub's client", () => {
  it('takes, lists, changes and removes comments', async (t) => {
    const { octokit, github } = await fakeWith(t);
    const of = { ...OF, issue_number: 7 };

    const made = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...of,
      body: 'one',
    });
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...of, body: 'two' });
    const newest = await octokit.request('GET /repos/{owner}/{repo}/issues/comments', {
      ...OF,
      sort: 'created',
      direction: 'desc',
    });
    const id = { ...OF, comment_id: Number(made.data.id) };
    const edited = await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...id,
      body: 'uno',
    });
    const oldest = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', of);
    const gone = await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', id);

    assert.deepEqual([made.status, made.data.user?.login, made.data.body], [201, 'octocat', 'one']);
    assert.match(made.headers.location ?? '', /\/issues\/comments\/\d+$/);
    assert.deepEqual(
      newest.data.map(({ body }) => body),
      ['two', 'one'],
    );
    assert.deepEqual([edited.status, oldest.data[0]?.body, gone.status], [200, 'uno', 204]);
    assert.deepEqual(github.data.shown('octo/hello', 7), ['two']);
  });

  it('keeps review threads', async (t) => {
    const { octokit, github } = await fakeWith(t);
    github.data.open('octo/hello', 8, 'pull');
    const root = github.data.comment({
      kind: 'review',
      repository: 'octo/hello',
      number: 8,
      user: 'ann',
      body: 'why?',
    });

    const reply = await octokit.request(
      'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies',
      { ...OF, pull_number: 8, comment_id: root.id, body: 'because' },
    );

    assert.deepEqual([reply.status, reply.data.in_reply_to_id], [201, root.id]);
  });

  it('takes reactions once', async (t) => {
    const { octokit } = await fakeWith(t);
    const route = '/repos/{owner}/{repo}/issues/{issue_number}/reactions';
    const of = { ...OF, issue_number: 7 };

    const first = await octokit.request(`POST ${route}`, { ...of, content: 'heart' });
    const again = await octokit.request(`POST ${route}`, { ...of, content: 'heart' });
    const gone = await octokit.request(`DELETE ${route}/{reaction_id}`, { ...of, reaction_id: first.data.id });

    assert.deepEqual([first.status, again.status, gone.status], [201, 200, 204]);
    assert.equal(again.data.id, first.data.id);
  });

  it('refuses as GitHub does, with the headers of the limit', async (t) => {
    const { octokit, github } = await fakeWith(t);
    const stranger = new Octokit({ auth: 'ghp-bad', baseUrl: github.url });
    const post = (client: Octokit, issue_number: number, body: string): Promise<unknown> =>
      client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...OF, issue_number, body });

    await assert.rejects(post(stranger, 7, 'x'), { status: 401, message: /Bad credentials/ });
    await assert.rejects(post(octokit, 9, 'x'), { status: 404, message: /Not Found/ });
    await assert.rejects(post(octokit, 7, ''), { status: 422, message: /Validation Failed/ });
    github.remaining = 0;
    await assert.rejects(post(octokit, 7, 'x'), (error: { status: number; response: { headers: object } }) => {
      assert.equal(error.status, 403);
      assert.equal((error.response.headers as Record<string, string>)['x-ratelimit-remaining'], '0');
      return true;
    });
  });

  it('answers GraphQL about discussions by the published schema, and refuses with 200', async (t) => {
    const { octokit, github } = await fakeWith(t);
    const { node_id: discussion } = github.data.open('octo/hello', 9, 'discussion');
    const of = { ...OF, name: 'hello', number: 9 };
    const typeOf = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => 'taken',
        ({ errors }: { readonly errors: readonly { readonly type?: string }[] }) => errors[0]?.type ?? 'not understood',
      );

    const { addDiscussionComment: made } = await octokit.graphql<Added>(ADD, { discussion, body: 'hi' });
    await octokit.graphql(ADD, { discussion, body: 'you too', replyTo: made.comment.id });
    const { addReaction } = await octokit.graphql<{ addReaction: { subject: object } }>(REACT, { id: made.comment.id });
    const { repository: found } = await octokit.graphql<{ repository: object }>(FIND, of);

    assert.deepEqual(found, {
      discussion: {
        comments: {
          totalCount: 1,
          nodes: [{ body: 'hi', author: { login: 'octocat' }, replies: { nodes: [{ body: 'you too' }] } }],
        },
      },
    });
    assert.deepEqual(addReaction.subject, { __typename: 'DiscussionComment' });
    assert.deepEqual(
      [
        await typeOf(octokit.graphql(ADD, { discussion: 'nowhere', body: 'hi' })),
        await typeOf(octokit.graphql(FIND, { ...of, number: 7 })),
        await typeOf(octokit.graphql(FIND.replace('(first: 10)', ''), of)),
        await typeOf(octokit.graphql(FIND.replace('first: 10', 'first: 101'), of)),
        await typeOf(octokit.graphql(ADD, { discussion, body: 'x', replyTo: 'nobody' })),
        await typeOf(octokit.graphql(ADD, { discussion })),
        await typeOf(octokit.graphql('{ repository(owner: "octo", name: "hello") { discussions { bodies } } }')),
      ],
      [
        'NOT_FOUND',
        'NOT_FOUND',
        'MISSING_PAGINATION_BOUNDARIES',
        'EXCESSIVE_PAGINATION',
        'UNPROCESSABLE',
        'not understood',
        'not understood',
      ],
    );
  });

  it('keeps webhooks, and tells no secret again', async (t) => {
    const { octokit } = await fakeWith(t);
    const config = { url: 'https://bot.example/webhooks/github/main', content_type: 'json', secret: 's3cret-s3cret' };

    const made = await octokit.request('POST /repos/{owner}/{repo}/hooks', { ...OF, config, events: ['issues'] });
    const listed = await octokit.request('GET /repos/{owner}/{repo}/hooks', OF);

    assert.deepEqual([made.status, made.data.config.url], [201, config.url]);
    assert.equal(listed.data[0]?.config.secret, '********');
    await assert.rejects(octokit.request('POST /repos/{owner}/{repo}/hooks', { ...OF, config }), { status: 422 });
  });
});
