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
    '/ask',
    '／取消\u200b',
    '/取消',
    '/admins',
    '/operators',
    '/nothing',
    '/remind soon tea',
    '/remind 1m',
    '/remind yesterday tea',
    '/remind list',
    '/remind cancel 1',
    '/help remind',
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
  '?',
  'Cancelled.',
  'Only admins may do that.',
  'Only operators may do that.',
  'There is no command /nothing. /help lists those there are.',
  'when: expected a time like "in 5 minutes" or "tomorrow at 9", got "soon tea"\nUsage: /remind <when> <text…>',
  'text: missing\nUsage: /remind <when> <text…>',
  'That time is over.',
  'No reminder waits for you here.',
  'You have no reminder 1 here. /remind list shows those that wait.',
  '/remind <when> <text…>\nReminds you later\n  when: 10m, "in 5 minutes", "tomorrow at 9", in front of the text or behind it\n' +
    'For example: /remind 10m tea\nFrom: remind',
  'I will remind you in 1m.',
  '@ann reminder: tea',
];
const CHINESE = [
  '抱歉，处理失败（id）。',
  '?',
  '已取消。',
  '?',
  '已取消。',
  '只有管理员可以执行此操作。',
  '只有运维人员可以执行此操作。',
  '没有命令 /nothing。 用 /help 查看所有命令。',
  'when: 应为时间，例如 10m、"in 5 minutes" 或 "tomorrow at 9"，收到 "soon tea"\n用法：/remind <when> <text…>',
  'text: 缺少\n用法：/remind <when> <text…>',
  '这个时间已经过去了。',
  '这里没有等待中的提醒。',
  '这里没有你的提醒 1。用 /remind list 查看等待中的提醒。',
  '/remind <when> <text…>\nReminds you later\n  when：10m, "in 5 minutes", "tomorrow at 9", in front of the text or behind it\n' +
    '例如：/remind 10m tea\n来自：remind',
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
