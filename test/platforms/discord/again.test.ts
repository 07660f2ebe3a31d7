// A post that is repeated when Discord has forgotten its nonce: it is looked for among what is said in its channel.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { discordBench, FILE } from '../../support/accounts/discord-bench.ts';

type Post = Partial<Extract<Outgoing, { readonly kind: 'post' | 'edit' }>>;
const post = (more: Post = {}): Post & { readonly kind: 'post' } => ({ text: 'hello', ...more, kind: 'post' });
const sent = (result: SendResult): string =>
  result.kind === 'sent' ? (result.message ?? 'sent') : `not sent: ${JSON.stringify(result)}`;

describe('a post to Discord that is repeated late', () => {
  it('gives the one that is there, with its files, though others said the same', async (t) => {
    const { platform, send } = await discordBench(t);
    const { world } = platform;
    platform.nonceMs = 0;
    const from = Date.now();
    const more = { buttons: [{ label: 'Yes', token: 'y' }], files: Array(11).fill(FILE) };
    const known = sent(await send(post({ key: 'alike', text: ' ok ', ...more })));
    for (const author of [world.owner, '80351110224678912']) platform.says('ok', { author });
    platform.next(/^POST .*\/messages$/, 'drop');
    await assert.rejects(send(post({ key: 'lost', text: ' ok ', ...more })));
    for (let n = 0; n < 150; n += 1) platform.says(`line ${n}`);
    const search = { from, others: [known] };

    const again = await send(post({ key: 'lost', text: ' ok ', ...more, repeat: true, search }));
    const once = await send(post({ key: 'lost', text: ' ok ', ...more, repeat: true, search }));
    const never = sent(await send(post({ key: 'never', text: 'ok', repeat: true, search })));

    const ours = world.messages.filter(({ author }) => author.id === world.bot.id);
    assert.deepEqual(
      ours.map(({ content, attachments }) => [content, attachments.length]),
      [
        [' ok ', 10],
        ['', 1],
        [' ok ', 10],
        ['', 1],
        ['ok', 0],
      ],
    );
    const names = ours.map(({ id }) => `${world.channel}/${id}`);
    assert.deepEqual([again, once].map(sent), Array(2).fill(`${names[2]}+${names[3]}`));
    assert.equal(never, names[4]);
  });

  it('is posted where the bot may not look, and not while Discord does not let it look', async (t) => {
    const { platform, send } = await discordBench(t);
    const lost = post({ key: 'lost', repeat: true, search: { from: Date.now(), others: [] } });
    platform.next(/^GET .*\/messages$/, { status: 429, headers: { 'retry-after': '7' } });
    platform.next(/^GET .*\/messages$/, { status: 500 });
    platform.next(/^GET .*\/messages$/, { status: 403, body: '{"code":50001,"message":"Missing Access"}' });

    const later = await send(lost);
    await assert.rejects(send(lost), /500/);
    const before = platform.world.messages.length;
    const result = await send(lost);

    assert.equal(later.kind, 'later');
    assert.deepEqual([before, platform.world.said(), result.kind], [0, ['hello'], 'sent']);
  });
});
