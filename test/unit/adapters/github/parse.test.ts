// Deliveries of GitHub → what arrived. The payloads hold what is read of GitHub's published examples, with their values.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EmitterWebhookEvent } from '@octokit/webhooks';
import { withMark } from '../../../../worker/adapters/github/marker.ts';
import { parse } from '../../../../worker/adapters/github/parse.ts';
import type { Payload } from '../../../../worker/adapters/github/payload.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';

const RECEIVED = 1_767_225_600_000;
const ID = '72d3162e-cc78-11e3-81ab-4c9367dc0958';

// GitHub's own types say that its payloads are what the parser reads: this compiles, or the parser is wrong.
type Read =
  | 'issues'
  | 'issue_comment'
  | 'pull_request'
  | 'pull_request_review'
  | 'pull_request_review_comment'
  | 'discussion'
  | 'discussion_comment';
const official = (payload: EmitterWebhookEvent<Read>['payload']): Payload => payload;

function arrivalOf(event: string, payload: object | string, login = 'helper-bot'): Arrival {
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const headers = { 'x-github-event': event, 'x-github-delivery': ID, 'content-type': 'application/json' };
  const [arrival, ...more] = parse(
    { method: 'POST', path: '', query: {}, headers, body, receivedAt: RECEIVED },
    { login },
  );
  assert.ok(arrival);
  assert.deepEqual(more, []);
  return arrival;
}

const person = (login: string) => ({ login, id: 21_031_067, type: 'User' });
const CODERTOCAT = person('Codertocat');
const repository = { id: 186_853_002, full_name: 'Codertocat/Hello-World', private: false, owner: CODERTOCAT };
const common = { repository, sender: CODERTOCAT };
const issue = {
  number: 1,
  title: 'Spelling error in the README file',
  user: CODERTOCAT,
  created_at: '2019-05-15T15:20:18Z',
  updated_at: '2019-05-15T15:20:21Z',
  author_association: 'OWNER',
  body: "It looks like you accidently spelled 'commit' with two 't's.",
};
const pull = { ...issue, number: 2, title: 'Update the README with new information.', body: null };
const discussion = {
  ...issue,
  number: 4,
  node_id: 'MDEwOkRpc2N1c3Npb24zMjk5NjE0',
  title: 'TEST edit',
  body: 'TEST edit',
};
const comment = {
  id: 492_700_400,
  node_id: 'MDEyOklzc3VlQ29tbWVudDQ5MjcwMDQwMA==',
  user: CODERTOCAT,
  created_at: '2019-05-15T15:20:21Z',
  updated_at: '2019-05-15T15:20:22Z',
  author_association: 'OWNER',
  body: "You are totally right! I'll get this fixed right away.",
};
const said = (body: string, more: object = {}) => ({
  ...common,
  action: 'created',
  issue,
  comment: { ...comment, body },
  ...more,
});

describe('parse of github', () => {
  it("reads what GitHub's own types allow", () => assert.equal(typeof official, 'function'));

  it('takes a comment as a message in the conversation of its issue', () => {
    assert.deepEqual(arrivalOf('issue_comment', said(comment.body)), {
      id: ID,
      kind: 'message',
      message: 'comment:492700400',
      text: "You are totally right! I'll get this fixed right away.",
      addressed: false,
      conversation: { id: 'Codertocat/Hello-World#1', kind: 'group', name: 'Spelling error in the README file' },
      user: { id: 'Codertocat', name: 'Codertocat', admin: true },
      sentAt: Date.UTC(2019, 4, 15, 15, 20, 21),
    });
  });

  it('tells created, edited and deleted apart', () => {
    const kinds = ['created', 'edited', 'deleted'].map((action) => {
      const arrival = arrivalOf('issue_comment', said('x', { action }));
      return [arrival.kind, 'message' in arrival && arrival.message, arrival.sentAt];
    });

    assert.deepEqual(kinds, [
      ['message', 'comment:492700400', Date.UTC(2019, 4, 15, 15, 20, 21)],
      ['edited', 'comment:492700400', Date.UTC(2019, 4, 15, 15, 20, 22)],
      ['deleted', 'comment:492700400', Date.UTC(2019, 4, 15, 15, 20, 22)],
    ]);
  });

  it('takes the body of an issue, pull request or discussion, and the title where there is none', () => {
    const opened = { ...common, action: 'opened' };
    const arrivals = [
      arrivalOf('issues', { ...opened, issue }),
      arrivalOf('pull_request', { ...opened, pull_request: pull }),
      arrivalOf('discussion', { ...common, action: 'created', discussion }),
    ];

    assert.deepEqual(
      arrivals.map((one) => [one.conversation.id, one.kind === 'message' && [one.message, one.text]]),
      [
        ['Codertocat/Hello-World#1', ['body', issue.body]],
        ['Codertocat/Hello-World#2', ['body', pull.title]],
        ['Codertocat/Hello-World/discussions#4', ['discussion:MDEwOkRpc2N1c3Npb24zMjk5NjE0', 'TEST edit']],
      ],
    );
  });

  it('is an edit when the body changed, and other when the title alone did', () => {
    const edited = { ...common, action: 'edited', issue };

    assert.equal(arrivalOf('issues', { ...edited, changes: { body: { from: 'x' } } }).kind, 'edited');
    assert.equal(arrivalOf('issues', { ...edited, changes: {} }).kind, 'edited');
    assert.equal(arrivalOf('issues', { ...edited, changes: { title: { from: 'x' } } }).kind, 'other');
    // Another branch to merge into is no other text.
    const base = { ref: { from: 'main' }, sha: { from: 'c3d0be41ecbe669545ee3e94d31ed9a4bc91ee3c' } };
    const moved = { ...common, action: 'edited', pull_request: pull, changes: { base } };
    assert.equal(arrivalOf('pull_request', moved).kind, 'other');
  });

  it('keeps review comments and discussions in threads, by their first comment', () => {
    const of = (event: string, more: object, subject: object) =>
      arrivalOf(event, { ...common, action: 'created', ...subject, comment: { ...comment, ...more } }).conversation
        .thread;

    assert.deepEqual(
      [
        of('pull_request_review_comment', { id: 284_312_630 }, { pull_request: pull }),
        of('pull_request_review_comment', { id: 2, in_reply_to_id: 284_312_630 }, { pull_request: pull }),
        of('discussion_comment', { id: 550_062, parent_id: null }, { discussion }),
        of('discussion_comment', { id: 550_063, parent_id: 550_062 }, { discussion }),
      ],
      ['review-comment:284312630', 'review-comment:284312630', 'discussion-thread:550062', 'discussion-thread:550062'],
    );
  });

  it('takes a review that says something as a message, and another as other', () => {
    const review = { id: 237_895_671, user: CODERTOCAT, body: null, submitted_at: '2019-05-15T15:20:38Z' };
    const of = (body: string | null): Arrival =>
      arrivalOf('pull_request_review', {
        ...common,
        action: 'submitted',
        review: { ...review, body },
        pull_request: pull,
      });

    const [silent, loud] = [of(null), of('Looks good')];
    assert.deepEqual([silent.kind, loud.kind], ['other', 'message']);
    assert.equal(loud.kind === 'message' && loud.message, 'review:237895671');
    assert.equal(loud.sentAt, Date.UTC(2019, 4, 15, 15, 20, 38));
  });

  it('keeps everything else whole, by its name', () => {
    const cases: readonly [string, object, string, string][] = [
      ['push', { ...common, ref: 'refs/tags/simple-tag' }, 'push', 'Codertocat/Hello-World'],
      ['release', { ...common, action: 'published' }, 'release.published', 'Codertocat/Hello-World'],
      ['workflow_run', { ...common, action: 'completed' }, 'workflow_run.completed', 'Codertocat/Hello-World'],
      ['issues', { ...common, action: 'labeled', issue }, 'issues.labeled', 'Codertocat/Hello-World#1'],
      [
        'organization',
        { action: 'member_added', organization: person('octo-org') },
        'organization.member_added',
        'octo-org',
      ],
      ['something_new', {}, 'something_new', 'github'],
    ];

    for (const [event, payload, type, conversation] of cases) {
      const arrival = arrivalOf(event, payload);
      assert.equal(arrival.kind, 'other');
      assert.deepEqual([arrival.kind === 'other' && arrival.type, arrival.conversation.id], [type, conversation]);
      assert.deepEqual(arrival.kind === 'other' && arrival.raw, payload);
      assert.equal(arrival.sentAt, RECEIVED);
    }
  });

  it('marks what the account did itself, in any case of its name', () => {
    const own = said('x', { sender: person('Helper-Bot') });
    const app = said('x', { sender: person('my-app[bot]') });

    assert.equal(arrivalOf('issue_comment', own).user.self, true);
    assert.equal(arrivalOf('issue_comment', app, 'my-app[bot]').user.self, true);
    assert.equal(arrivalOf('issue_comment', app).user.self, undefined);
  });

  it('knows when it is spoken to, and takes a mention at the beginning out of the text', () => {
    const of = (body: string, login?: string) => {
      const arrival = arrivalOf('issue_comment', said(body), login);
      return arrival.kind === 'message' ? [arrival.text, arrival.addressed] : [];
    };

    assert.deepEqual(of('@helper-bot: remind me\r\nlater'), ['remind me\nlater', true]);
    assert.deepEqual(of('thanks @Helper-Bot!'), ['thanks @Helper-Bot!', true]);
    assert.deepEqual(of('@my-app hello', 'my-app[bot]'), ['hello', true]);
    for (const text of ['@helper-bot2 hi', 'ann@helper-bot', 'say `@helper-bot`', '```\n@helper-bot\n```'])
      assert.deepEqual(of(text), [text, false], text);
  });

  it('takes the mark out of a comment of the bot that somebody edited', () => {
    const arrival = arrivalOf('issue_comment', said(withMark('hello there', 'k1'), { action: 'edited' }));

    assert.equal(arrival.kind === 'edited' && arrival.text, 'hello there');
  });

  it('names an admin by what GitHub says of the author, not of somebody else who edited', () => {
    const admin = (more: object) => arrivalOf('issue_comment', said('x', more)).user.admin;

    assert.equal(admin({}), true);
    assert.equal(admin({ comment: { ...comment, author_association: 'MEMBER' } }), false);
    assert.equal(admin({ action: 'edited', sender: person('mallory') }), false);
  });

  it('takes form-encoded deliveries', () => {
    const body = new URLSearchParams({ payload: JSON.stringify(said('hi')) }).toString();
    const headers = {
      'x-github-event': 'issue_comment',
      'x-github-delivery': ID,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const request = { method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt: RECEIVED };

    assert.equal(parse(request, { login: 'x' })[0]?.kind, 'message');
  });

  it('throws for what is no payload of GitHub, so that a person sees it', () => {
    for (const text of ['', 'null', '[1', '"x"']) assert.throws(() => arrivalOf('push', text));
    assert.throws(
      () => arrivalOf('issue_comment', { ...common, action: 'created', issue, comment: {} }),
      /comment\.id/,
    );
  });

  it('is safe from names that reach a prototype', () => {
    const arrival = arrivalOf('push', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');

    assert.deepEqual(arrival.kind === 'other' && arrival.raw, {});
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });
});
