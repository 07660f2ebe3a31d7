// A file that a plugin sends where the platform takes none: people get a link, and the link gives the file.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const GIVER = `import { definePlugin } from 'svc';
export default definePlugin({
  name: 'giver',
  setup(p) {
    p.command('give', { summary: 'Gives a file' }, async (ctx) => {
      const file = await ctx.saveFile('report.html', 'text/html', Buffer.from('<b>all is well</b>'));
      return { text: 'here', files: [file] };
    });
  },
});
`;

interface Messages {
  readonly messages: readonly { readonly from: string; readonly text: string }[];
}

describe('a file on a platform without files', () => {
  it('comes as a link that opens without a token, over a restart, until somebody changes it', async (t) => {
    const host = await runningHost(t, {
      plugins: { sandbox: {}, giver: { use: './plugins/giver.mjs' } },
      sources: { 'giver.mjs': GIVER },
    });
    await fetch(`${host.url}api/chat/say`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ person: 'ann', text: '/give', delivery: 'd1' }),
    });
    const said = await until(
      async () => {
        const { messages } = (await host.get('api/chat/messages?person=ann')) as Messages;
        return messages.find(({ from }) => from === 'svc')?.text;
      },
      { what: 'the answer' },
    );
    const link = /\[report\.html\]\((http[^)]+)\)/.exec(said)?.[1] ?? '';

    await host.stop();
    await host.start();
    const answer = await fetch(link);

    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), '<b>all is well</b>');
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="report\.html"/);
    assert.equal((await fetch(link.replace('report', 'other'))).status, 403);
    assert.equal((await fetch(link.replace(/expires=\d/, 'expires=9'))).status, 403);
    assert.equal((await fetch(link.replace(/files\/./, 'files/0'))).status, 403);
    assert.doesNotMatch(host.output(), /signature=/);
  });
});
