// The suite that every adapter runs, for discord over the gateway: at a fake Discord, whose sessions are resumed, also by another process.
import { afterEach, beforeEach } from 'node:test';
import { discord } from '../../../worker/adapters/discord/index.ts';
import { adapterContract } from '../../../worker/testing/index.ts';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { until } from '../../support/until.ts';

const REFUSED = 'ODQ1MDI3NzM4Mjc2NDYyNzc3.GabcdE.refused-token-0123456789abcdef';
const ELSEWHERE = '645027906669510668';
let [fake, another]: FakeDiscord[] = [];
let ends: (() => void | Promise<void>)[] = [];

beforeEach(async () => {
  const owner = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  [fake, another] = [await FakeDiscord.start(owner), await FakeDiscord.start(owner)];
  fake.world.addChannel(ELSEWHERE);
  for (const { world, gateway } of [fake, another])
    for (const [id, author] of [
      ['2001', '80351110224678912'],
      ['2002', world.bot.id],
      ['2003', '80351110224678913'],
    ] as const)
      gateway.waiting.push([
        'MESSAGE_CREATE',
        {
          id,
          channel_id: world.channel,
          guild_id: world.guild,
          author: { id: author, username: 'x' },
          content: `line ${id}`,
        },
      ]);
});
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

const accountOf = (of: FakeDiscord | undefined, token = of?.token): Record<string, unknown> => ({
  token,
  applicationId: of?.world.application,
  apiUrl: of?.apiUrl,
});

/** The adapter comes back by itself: the account stays online. */
async function cut(): Promise<void> {
  const before = fake?.gateway.received.length ?? 0;
  fake?.gateway.cut();
  await until(() => (fake?.gateway.received.length ?? 0) > before, { what: 'a session' });
}

adapterContract(discord, {
  account: () => accountOf(fake),
  other: () => accountOf(another),
  refused: () => accountOf(fake, REFUSED),
  conversation: '645027906669510667',
  finds: true,
  secrets: [REFUSED, 'ODQ1MDI3NzM4Mjc2NDYyNzc3.GabcdE.fake-token-of-the-bot-0123456789abcd'],
  history: ['845027738276462632/m/2001', '845027738276462632/m/2003'],
  changes: true,
  taken: () => fake?.requests.filter(({ method }) => method !== 'GET').map((request) => JSON.stringify(request)) ?? [],
  cut,
  slows: (afterMs) => void (fake !== undefined && (fake.waitMs = afterMs)),
  refuses: () =>
    fake?.next(/^POST .*\/messages$/, { status: 403, body: '{"message":"Missing Permissions","code":50013}' }),
  elsewhere: ELSEWHERE,
  without: { good: 'over the gateway Discord delivers nothing over HTTP' },
});
