// Answers in a thread, as the fake Discord shows them: where Discord opens one, and where it does not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { discordBench } from '../../support/accounts/discord-bench.ts';

type Post = Partial<Extract<Outgoing, { readonly kind: 'post' | 'edit' }>>;
const post = (more: Post): Post & { readonly kind: 'post' } => ({ ...more, kind: 'post' });
const sent = (result: SendResult): string =>
  result.kind === 'sent' ? (result.message ?? 'sent') : `not sent: ${JSON.stringify(result)}`;
const ANN = { id: '80351110224678912', username: 'ann' };
const HISTORY = /^GET .*\/messages$/;

describe('discord threads', () => {
  it('into one under a message, which it opens, and goes on in', async (t) => {
    const { platform, send } = await discordBench(t);
    const root = sent(await send(post({ key: 'a', text: 'root' })));

    const first = sent(await send(post({ key: 'b', text: 'first', thread: root, replyTo: root })));
    const second = sent(await send(post({ key: 'c', text: 'second', thread: root })));

    const thread = root.split('/')[1] ?? '';
    assert.deepEqual(
      [first, second].map((message) => message.split('/')[0]),
      [thread, thread],
    );
    assert.deepEqual(platform.world.said(thread), ['first', 'second']);
    assert.equal(platform.world.channels.get(thread)?.parent_id, platform.world.channel);
  });

  for (const where of ['in a thread', 'in private'] as const)
    it(`answers the message ${where}, where Discord opens none`, async (t) => {
      const { platform, send } = await discordBench(t);
      const { world } = platform;
      const channel =
        where === 'in private'
          ? world.privateChannel(ANN.id)
          : world.addChannel(world.snowflake(), { type: 11, parent_id: world.channel });
      const asked = world.add({ channel_id: channel.id, author: ANN, content: 'how?' });
      const conversation = where === 'in private' ? `@${ANN.id}` : channel.id;
      const root = `${channel.id}/${asked.id}`;

      const first = sent(await send(post({ key: 'a', text: 'so', conversation, thread: root })));
      const search = { from: Date.now() - 60_000, others: [] };
      const again = sent(await send(post({ key: 'b', text: 'so', conversation, thread: root, repeat: true, search })));

      assert.deepEqual(world.said(channel.id), ['so']);
      assert.deepEqual([first.split('/')[0], again], [channel.id, first]);
      assert.equal(world.messages.at(-1)?.message_reference?.['message_id'], asked.id);
      assert.equal(platform.calls.filter((call) => HISTORY.test(call)).at(-1), `GET /channels/${channel.id}/messages`);
    });
});
