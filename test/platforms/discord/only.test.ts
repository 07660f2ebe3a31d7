// What a command answers for one person's eyes: it goes to the private channel, and "thinking…" in the channel of the command ends with it.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { SendResult } from '../../../worker/sdk/index.ts';
import { discordBench } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

/** Of the fake's interactions. */
const PERSON = '53908232506183680';

/** A command in a channel that shows "thinking…", and what is said to its person in private. */
async function asked(t: TestContext) {
  const { platform, open, send } = await discordBench(t);
  const link = open();
  await until(() => link.isOnline, { what: 'the account to be online' });
  platform.gateway.dispatch('INTERACTION_CREATE', platform.interaction({ name: 'secret', type: 1 }));
  const [known] = platform.world.interactions;
  await until(() => known?.original !== undefined, { what: 'thinking' });
  const say = (text: string): Promise<SendResult> =>
    send({ kind: 'post', conversation: `@${PERSON}`, key: text, text });
  return { world: platform.world, known, say };
}

describe('discord: a reply to a command for its person alone', () => {
  it('ends "thinking…" where the command was given', async (t) => {
    const { world, known, say } = await asked(t);

    const result = await say('psst');

    assert.equal(result.kind, 'sent');
    await until(() => known?.original?.isDeleted, { what: 'the end of thinking' });
    assert.deepEqual(world.said(world.privateChannel(PERSON).id), ['psst']);
  });

  it('is shown there to the person who takes no private messages', async (t) => {
    const { world, known, say } = await asked(t);
    world.privateChannel(PERSON).isClosed = true;

    const results = [await say('psst'), await say('more')];

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'refused'],
    );
    assert.deepEqual(known?.original, { content: 'psst', isDeleted: false });
  });
});
