// The configuration of a project that is killed: the sandbox, two webhook accounts, two IRC accounts, the built-in plugins.
import type { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import type { WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import { WEBHOOK_ACCOUNTS } from './load.ts';

export const IRC_ACCOUNTS = ['one', 'two'] as const;

export function configOf({
  port,
  platform,
  irc,
}: {
  port: number;
  platform: WebhookPlatform;
  irc: ReadonlyMap<string, FakeIrcServer>;
}): Readonly<Record<string, unknown>> {
  const servers = [...irc.values()];
  return {
    log_level: 'warn',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    http: { port, token: '${HTTP_TOKEN}' },
    // Each kill costs what was under way an attempt: the bound is not what is tested here. What was in hand twice waits, and is done.
    inbox: { maxAttempts: 100, quarantineSeconds: 1 },
    outbox: { maxAttempts: 100 },
    disk: { minFreeBytes: 0 },
    events: { history: { maxEvents: 10_000_000, maxBytes: 2 ** 32 } },
    plugins: {
      sandbox: {},
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      webhook: {
        endpoints: WEBHOOK_ACCOUNTS.map((id) => ({ id, url: platform.url(id), secrets: ['${HOOK_SECRET}'] })),
      },
      irc: {
        endpoints: IRC_ACCOUNTS.map((id, index) => ({
          id,
          server: '127.0.0.1',
          port: servers[index]?.port,
          tls: false,
          nick: `bot${id}`,
          burstLines: 1_000,
          linesPerSecond: 1_000,
        })),
      },
      echo: {},
      ping: {},
      remind: {},
    },
  };
}
