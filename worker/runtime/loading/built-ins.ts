// Plugins and adapters that are part of svc. Each is loaded only if a configuration names it.
export const BUILT_INS: Readonly<Record<string, () => Promise<unknown>>> = {
  echo: async () => (await import('../../plugins/echo/index.ts')).echo,
  help: async () => (await import('../../plugins/help/index.ts')).help,
  ping: async () => (await import('../../plugins/ping/index.ts')).ping,
  remind: async () => (await import('../../plugins/remind/index.ts')).remind,
  work: async () => (await import('../../plugins/work/index.ts')).work,
  discord: async () => (await import('../../adapters/discord/index.ts')).discord,
  github: async () => (await import('../../adapters/github/index.ts')).github,
  irc: async () => (await import('../../adapters/irc/index.ts')).irc,
  line: async () => (await import('../../adapters/line/index.ts')).line,
  onebot11: async () => (await import('../../adapters/onebot11/index.ts')).onebot11,
  sandbox: async () => (await import('../../adapters/sandbox/index.ts')).sandbox,
  slack: async () => (await import('../../adapters/slack/index.ts')).slack,
  telegram: async () => (await import('../../adapters/telegram/index.ts')).telegram,
  webhook: async () => (await import('../../adapters/webhook/index.ts')).webhook,
  xmpp: async () => (await import('../../adapters/xmpp/index.ts')).xmpp,
};

/** Plugins that the host adds by itself, in a slot that no configuration names. */
export const HIDDEN = {
  jobs: async () => (await import('../../plugins/jobs/index.ts')).jobs,
} as const satisfies typeof BUILT_INS;
