// The language of the host's own texts in chats: of the configuration, and of a conversation for which a plugin chooses another.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { help } from '../../../../worker/plugins/help/index.ts';
import { remind } from '../../../../worker/plugins/remind/index.ts';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const tool = definePlugin({
  name: 'tool',
  setup(p) {
    const dialog = p.dialog('name', { answers: { name: t.string({ title: '?' }) } }, (_ctx, { name }) => name);
    p.command('fail', { summary: 'Fails', attempts: 1 }, () => {
      throw new Error('broken');
    });
    p.command('ask', { summary: 'Asks' }, (ctx) => ctx.ask(dialog, {}));
    p.command('admins', { summary: 'For admins', who: 'admin' }, () => 'done');
    p.command('operators', { summary: 'For operators', who: 'operator' }, () => 'done');
    p.language(({ id }) => {
      if (id === 'dm-broken') throw new Error('broken');
      return id === 'dm-en' ? 'en' : id === 'dm-zh' ? 'zh' : id === 'dm-other' ? ('fr' as never) : undefined;
    });
  },
});

const start = (t: TestContext, language?: string): Promise<EngineHost> =>
  engineHost(t, { modules: { tool, help, remind }, config: language === undefined ? {} : { host: { language } } });

/** What each line is answered with, without the ids of failures. */
async function answers(host: EngineHost, from: string): Promise<readonly string[]> {
  for (const line of [
    '/fail',
    '/ask',
    'cancel',
    '/admins',
    '/operators',
    '/nothing',
    '/remind soon tea',
    '/remind 1m',
    '/remind 1m tea',
  ]) {
    await host.platform.says(line, { from });
    await host.quiet();
  }
  await host.advance(60_000);
  return host.platform.said(`dm-${from}`).map((text) => text.replace(/\w{12}/, 'id'));
}

const ENGLISH = [
  'Sorry, that failed (id).',
  '?',
  'Cancelled.',
  'Only admins may do that.',
  'Only operators may do that.',
  'There is no command /nothing. /help lists those there are.',
  'in: expected a duration like 10m or 1h30m, got "soon"\nUsage: /remind <in> <text…>',
  'text: missing\nUsage: /remind <in> <text…>',
  'I will remind you in 1m.',
  '@ann reminder: tea',
];
const CHINESE = [
  '抱歉，处理失败（id）。',
  '?',
  '已取消。',
  '只有管理员可以执行此操作。',
  '只有运维人员可以执行此操作。',
  '没有命令 /nothing。 用 /help 查看所有命令。',
  'in: 应为时长，例如 10m 或 1h30m，收到 "soon"\n用法：/remind <in> <text…>',
  'text: 缺少\n用法：/remind <in> <text…>',
  '好的，1m 后提醒你。',
  '@ann 提醒：tea',
];
const of = (from: string, texts: readonly string[]): readonly string[] =>
  texts.map((text) => text.replace('@ann', `@${from}`));

describe('texts of the host in a chat', () => {
  it('are English where the configuration names no language', async (t) => {
    assert.deepEqual(await answers(await start(t), 'ann'), ENGLISH);
  });

  it('are in the language of the configuration', async (t) => {
    assert.deepEqual(await answers(await start(t, 'zh'), 'ann'), CHINESE);
  });

  it('are in the language that a plugin chooses for the conversation', async (t) => {
    assert.deepEqual(await answers(await start(t), 'zh'), of('zh', CHINESE));
    assert.deepEqual(await answers(await start(t, 'zh'), 'en'), of('en', ENGLISH));
  });

  it("stay the host's where a plugin throws or names a language that is not there", async (t) => {
    const host = await start(t, 'zh');

    assert.deepEqual(await answers(host, 'broken'), of('broken', CHINESE));
    assert.deepEqual(await answers(host, 'other'), of('other', CHINESE));
  });
});
