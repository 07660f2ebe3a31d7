// The sample plugin of a new project, and its test, as texts.

export const HELLO_PLUGIN = `// Greets people and counts how often each has come. Try it on the chat page: /hello
// The guide to plugins: node_modules/svc/worker/sdk/guide/plugins.md (all guides: npx svc help guides)
import { definePlugin, t } from 'svc';

export default definePlugin({
  name: 'hello',
  // Keys of plugins.hello in svc.config.yml.
  config: { greeting: t.string({ default: 'Hello', minLength: 1, maxLength: 100 }) },
  setup(p) {
    const visits = p.state('visits', { scope: 'user', value: t.object({ count: t.integer() }) });

    p.command('hello', { summary: 'Greets you', examples: ['/hello'] }, async (ctx) => {
      const count = ((await ctx.get(visits))?.count ?? 0) + 1;
      ctx.set(visits, { count });
      return count === 1 ? \`\${p.config.greeting}, \${ctx.user.name}!\` : \`\${p.config.greeting} again, \${ctx.user.name}: visit \${count}.\`;
    });
  },
});
`;

export const HELLO_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBot } from 'svc/testing';
import hello from './index.ts';

test('greets, and remembers over a restart', async () => {
  const bot = await testBot(hello, { config: { greeting: 'Hi' } });

  await bot.person('ann').says('/hello');
  await bot.restart();
  await bot.person('ann').says('/hello');

  assert.deepEqual(bot.shown('dm-ann'), ['Hi, ann!', 'Hi again, ann: visit 2.']);
  await bot.stop();
});
`;
