// What an operator installs with svc, and why: each package that package.json names, with what it spares us, and how many come with them. One more
// of either fails the build until its reason, or the new number, stands here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './output.ts';

export const REASONS: Readonly<Record<string, string>> = {
  '@discordjs/rest': "Discord's REST interface with its buckets of rate limits",
  '@discordjs/ws': "Discord's gateway: sessions, shards, resuming",
  '@line/bot-sdk': "LINE's own types and client",
  '@octokit/core': "GitHub's own client",
  '@slack/web-api': "Slack's own client",
  '@xmpp/client': 'XMPP streams: SASL, STARTTLS, stream management',
  'age-encryption': 'files that the program age decrypts, for exported checkpoints: by its author',
  ajv: 'JSON Schema: configuration, bodies of requests, schemas of plugins; TypeBox checks none that plugins bring as documents',
  'ajv-formats': 'formats of those schemas',
  'better-sqlite3': 'SQLite, synchronous, as the writer thread needs it',
  'better-sqlite3-13': 'the same for a version of Node that the first has no prebuilt binary for; optional',
  grammy: "Telegram's Bot API with its types",
  'irc-framework': 'IRC with its capabilities, nicks and numerics',
  standardwebhooks: 'the reference implementation of Standard Webhooks',
  tar: 'headers of tar archives with their extensions, for exported checkpoints',
  tsx: 'plugins in TypeScript in development, with reload',
  typebox: 'schemas that are types: plugins hand them in as values',
};

/** Packages that are installed with svc, those of other platforms included. */
export const INSTALLED = 241;

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

export interface Dependencies {
  readonly named: readonly string[];
  readonly installed: number;
}

/** As package.json and the lockfile have them. */
export function dependencies(): Dependencies {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
  const manifest = read('package.json') as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  const { packages } = read('package-lock.json') as Lock;
  return {
    named: Object.keys({ ...manifest['dependencies'], ...manifest['optionalDependencies'] }).toSorted(),
    installed: Object.entries(packages).filter(
      ([path, { dev = false, devOptional = false }]) => path !== '' && !dev && !devOptional,
    ).length,
  };
}
