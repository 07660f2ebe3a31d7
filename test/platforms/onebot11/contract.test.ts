// The suite that every adapter runs, for onebot11 over its WebSocket (forward): at a fake implementation, which tells what waits to whoever comes.
import { afterEach, beforeEach } from 'node:test';
import { createOnebot11 } from '../../../worker/adapters/onebot11/index.ts';
import { TIMING } from '../../../worker/adapters/onebot11/timing.ts';
import { adapterContract } from '../../../worker/testing/index.ts';
import { failed } from '../../support/fake-platforms/onebot11/bot.ts';
import { FakeOneBot } from '../../support/fake-platforms/onebot11.ts';

const AT = 1_767_225_600;
let [fake, another]: FakeOneBot[] = [];
let ends: (() => void | Promise<void>)[] = [];

beforeEach(async () => {
  const owner = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  [fake, another] = [await FakeOneBot.start(owner), await FakeOneBot.start(owner)];
  for (const of of [fake, another])
    for (const user of [5, of.bot.self, 6, 7])
      of.waiting.push(of.line(`of ${user}`, { user, group: 7, push: false, time: AT }));
});
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

const accountOf = (of: FakeOneBot | undefined, token = of?.token): Record<string, unknown> => ({
  mode: 'forward',
  url: of?.wsUrl,
  accessTokens: [token],
  perSecond: 100,
  catchUp: true,
});

adapterContract(createOnebot11({ ...TIMING, retryMs: 10 }), {
  account: () => accountOf(fake),
  other: () => accountOf(another),
  refused: () => accountOf(fake, 'a token that is refused'),
  conversation: 'group:7',
  secrets: ['a token that is refused', 'kSLuTF2GC2Q4q4ugm3'],
  history: [1001, 1003, 1004].map((id) => `10001000/message/${id}/${AT}`),
  changes: true,
  taken: () =>
    (fake?.calls ?? [])
      .filter(({ action }) => /^(?:send_group_msg|delete_msg|set_msg_emoji_like)$/.test(action))
      .map(({ params }) => JSON.stringify(params)),
  cut: () => fake?.cut(),
  refuses: () => fake?.next('send_group_msg', failed(1200, 'refused')),
  without: {
    good: 'over a WebSocket an implementation posts nothing',
    slows: 'an answer over a WebSocket cannot ask to wait',
    idempotent: 'OneBot knows no keys by which a repeat could be dropped',
    finds: 'OneBot shows nothing by which a post could be found again',
    edit: 'QQ lets nothing be changed that was sent',
  },
});
