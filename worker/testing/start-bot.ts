// Makes and starts a test bot. Apart from `test-bot.ts`, so that the published declarations end at what authors use.
import { invalid } from '../sdk/definition-mark.ts';
import type { PluginModule } from '../sdk/plugin.ts';
import { MemoryBot } from './memory-bot.ts';
import { refuseBadOptions, TEST_BOT } from './option-shapes.ts';
import type { TestBotOptions } from './test-bot.ts';

/** The bot with what only tests of the SDK itself need: its disk, its platform, kills by number. */
export async function startBot(
  plugins: PluginModule | Record<string, PluginModule>,
  options: TestBotOptions = {},
): Promise<MemoryBot> {
  // A module without a default export, in plain JavaScript.
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
