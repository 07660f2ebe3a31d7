// The sample plugin of a new Workroom, and its test, as texts.

export const TICKETS_PLUGIN = `// Opens an item on the board for each issue that is opened on GitHub. Its address there: /webhooks/tickets/github
// The guide to a team's work: node_modules/svc/deploy/guide/workroom.md (all guides: npx svc help guides)
import { definePlugin, t, verifyHmac } from 'svc';

export default definePlugin({
  name: 'tickets',
  uses: ['workroom'],
  // Keys of plugins.tickets in svc.config.yml.
  config: { secret: t.secret(), board: t.string({ default: 'demo' }) },
  setup(p) {
    p.webhook(
      'github',
      {
        verify: (request) =>
          verifyHmac(request, {
            signature: request.headers['x-hub-signature-256']?.replace(/^sha256=/, ''),
            secrets: [p.config.secret],
          }),
        delivery: ({ headers }) => headers['x-github-delivery'],
        accept: ({ headers }) => headers['x-github-event'] === 'issues',
        body: t.object({ action: t.string(), issue: t.object({ title: t.string(), html_url: t.string() }) }),
      },
      async (ctx, { body }) => {
        if (body.action !== 'opened') return;
        const { title, html_url: text } = body.issue;
        const made = await ctx.workroom.do({ kind: 'new', board: p.config.board, title: title.slice(0, 100), text });
        if (made.kind === 'refused') throw new Error(made.reason);
      },
    );
  },
});
`;

/** A job that tells the board's room each morning what cannot go on. */
export const MORNING_JOBS = `${JSON.stringify(
  {
    $schema: '../node_modules/svc/dist/schedule-jobs-schema.json',
    version: 1,
    jobs: [
      {
        id: 'blocked-items',
        title: 'What cannot go on',
        cron: '0 9 * * 1-5',
        do: { command: { in: { endpoint: 'sandbox', conversation: 'room-demo' }, line: '/work list blocked' } },
      },
    ],
  },
  null,
  2,
)}\n`;

export const TICKETS_TEST = `import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { testBot } from 'svc/testing';
import tickets from './index.ts';

test('opens one item for an issue, however often it is delivered', async () => {
  const bot = await testBot(tickets, {
    config: { secret: 'a secret of 16 or more' },
    workroom: { boards: { demo: { members: { ann: 'owner' } } } },
  });
  const body = JSON.stringify({ action: 'opened', issue: { title: 'It is slow', html_url: 'https://example.org/1' } });
  const signature = createHmac('sha256', 'a secret of 16 or more').update(body).digest('hex');
  const headers = { 'x-github-event': 'issues', 'x-github-delivery': '1', 'x-hub-signature-256': \`sha256=\${signature}\` };

  for (const status of [202, 202]) assert.equal((await bot.post('tickets/github', { headers, body })).status, status);

  assert.deepEqual(
    (await bot.items()).map(({ id, title }) => [id, title]),
    [['demo-1', 'It is slow']],
  );
  await bot.stop();
});
`;
