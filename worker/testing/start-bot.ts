// Makes and starts a test bot. It is apart from `test-bot.ts` so that the published declarations hold only the public API.
import { invalid } from '../sdk/definition-mark.ts';
import type { PluginModule } from '../sdk/plugin.ts';
import { MemoryBot } from './memory-bot.ts';
import { refuseBadOptions, TEST_BOT } from './option-shapes.ts';
import type { TestBotOptions } from './test-bot.ts';

/** Starts a bot with members that only tests of the SDK need: its disk, its platform, and kills by number. */
export async function startBot(
  plugins: PluginModule | Record<string, PluginModule>,
  options: TestBotOptions = {},
): Promise<MemoryBot> {
  // In plain JavaScript, a module without a default export is undefined here.
  if (typeof plugins !== 'object' || plugins === null)
    throw invalid('not a svc definition: export default definePlugin(…)');
  refuseBadOptions('testBot', options, TEST_BOT);
  const single = isPlugin(plugins) ? plugins : undefined;
  const modules = single === undefined ? (plugins as Record<string, PluginModule>) : { [single.name]: single };
  const config =
    single === undefined
      ? ((options.config ?? {}) as Record<string, Record<string, unknown>>)
      : { [single.name]: options.config ?? {} };
  const bot = new MemoryBot(modules, config, options);
  await bot.restart();
  return bot;
}

const isPlugin = (plugins: PluginModule | Record<string, PluginModule>): plugins is PluginModule =>
  Symbol.for('svc.definition') in plugins;
