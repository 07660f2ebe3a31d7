// GitHub: comments on issues. A delivery that was not answered 2xx is delivered again under its id, as svc and people ask GitHub for it.
// GitHub knows no keys of sends: svc looks for a comment by its mark before it repeats it.
import { randomUUID } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { FakeGithub } from '../../../../support/fake-platforms/github.ts';
import { Links } from '../links.ts';
import { type OpenPlatform, type Platform, push, slows } from '../platform.ts';

const REPOSITORY = 'octo/hello';
const TOKEN = 'ghp_TokenOfTheBot0123456789';
const SECRET = 'the secret of the webhook, long enough';
/** By which svc knows a comment of its own; nobody sees it. */
const MARK = /\s*<!-- svc .*? -->/g;
const CONVERSATIONS = 6;

export const github: Platform = {
  name: 'github',
  repeats: 'search',
  extras: ['edited', 'file', 'reacted'],
  // It asks for a second between comments.
  mostOwed: 3,
  conversations: CONVERSATIONS,
  async open(t): Promise<OpenPlatform> {
    const fake = await new FakeGithub({ [TOKEN]: 'helper-bot' }).start(t);
    fake.remaining = Number.MAX_SAFE_INTEGER;
    const webhooks = new Webhooks({ secret: SECRET });
    const links = new Links();
    for (let number = 1; number <= CONVERSATIONS; number += 1) fake.data.open(REPOSITORY, number);
    return {
      slot: 'github',
      account: {
        id: 'main',
        login: 'helper-bot',
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
        token: '${GITHUB_TOKEN}',
        secrets: ['${GITHUB_SECRET}'],
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
        apiUrl: fake.url,
      },
      env: { GITHUB_TOKEN: TOKEN, GITHUB_SECRET: SECRET },
      async deliver({ text, conversation: number }, to) {
        const body = JSON.stringify({
          action: 'created',
          repository: { full_name: REPOSITORY },
          issue: { number, title: 'Spelling' },
          comment: { id: 12, body: text, user: { login: 'ann' }, created_at: '2026-01-01T00:00:00Z' },
          sender: { login: 'ann' },
        });
        const headers = {
          'content-type': 'application/json',
          'x-github-event': 'issue_comment',
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': await webhooks.sign(body),
        };
        return push(() => ({ path: '/webhooks/github/main', headers, body }), to);
      },
      answers: (from) => fake.data.comments.slice(from).map(({ body }) => body),
      slowed: slows(fake, /^POST .*\/comments$/),
      finish: (to) =>
        links.open(
          fake.data.comments.map(({ body }) => body),
          to,
        ),
      shown: () =>
        fake.data.comments.map(({ id, body }) => ({
          text: body.replaceAll(MARK, ''),
          files: links.filesOf(body),
          reactions: fake.data.reactions.flatMap(({ subject, content }) =>
            subject === `issues/comments/${id}` ? [content] : [],
          ),
        })),
    };
  },
};
