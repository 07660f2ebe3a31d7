// A reply to an item's card over Telegram: the platform's message id leads back to the card, and so to the item.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const ANN = { id: 5, is_bot: false, first_name: 'Ann' };

describe('a reply to a card on Telegram', () => {
  it('concerns the item that the card shows', async (t) => {
    const telegram = await new FakeTelegram().listen(t);
    const token = telegram.bot(42, 'main_bot');
    const config = {
      host: { name: 'team', kind: 'workroom' },
      http: HTTP,
      plugins: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        telegram: { endpoints: [{ id: 'main', token: '${MAIN_TOKEN}', apiUrl: telegram.url }] },
        work: {},
      },
    };
    const project = temporaryProject(t, { config });
    const host = await running(t, { project, environment: { ...project.env, MAIN_TOKEN: token } });
    for (const command of [
      { kind: 'board.add', board: 'web', name: 'Web site' },
      { kind: 'member.add', member: 'ann' },
      { kind: 'member.link', member: 'ann', endpoint: 'telegram~main', user: '5' },
      { kind: 'role.grant', board: 'web', member: 'ann', role: 'worker' },
      { kind: 'conversation.bind', board: 'web', endpoint: 'telegram~main', conversation: '5' },
    ])
      assert.equal((await host.call('POST', '/api/workroom/commands', command)).status, 200);
    const says = (text: string, replyTo?: number): void => {
      const chat = { ...ANN, type: 'private' };
      const answered = replyTo === undefined ? {} : { reply_to_message: { message_id: replyTo, date: 1, chat } };
      telegram.happens(token, { message: { message_id: 900, date: 1, chat, from: ANN, text, ...answered } });
    };
    const answers = (count: number) =>
      until(() => telegram.messages(5).length >= count, { what: `${count} messages of the bot` });

    says('/work new Home page');
    await answers(1);
    says('/work new Imprint');
    await answers(2);
    says('/work take', telegram.messages(5)[0]?.message_id);
    await answers(3);

    assert.match(telegram.messages(5)[2]?.text ?? '', /web-1.*active, ann/);
  });
});
