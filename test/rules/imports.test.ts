// Who may import whom, as an allow-list: what the linter's overrides forbid by pattern, and what they cannot say.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SourceFile, type SourceImport, sourceFiles } from './source-tree.ts';

interface Rule {
  readonly name: string;
  /** Files that it is about; the first rule that matches a file is the one. */
  readonly files: RegExp;
  /** Local paths that they may import, besides their own folder. */
  readonly local: RegExp;
  /** Packages that they may import. `lazy`: only by `import()`. */
  readonly packages: readonly string[];
  readonly lazyPackages?: readonly string[] | 'any';
  readonly noNode?: boolean;
}

const NOTHING = /^$/;

/** The rooms of the worker, the lowest first: each may import those below it. */
const ROOMS = [
  'sdk',
  'watchdog',
  'database',
  'core',
  'files',
  'http',
  'events',
  'timers',
  'lanes',
  'endpoints',
  'inbox',
  'outbox',
  'metrics',
  'readiness',
  'handling',
  'workroom',
  'ingress',
  'jobs',
  'alerts',
  'runtime',
  'engine',
  'sandbox',
  'recovery',
  'host',
  'process',
  'testing',
] as const;
type Room = (typeof ROOMS)[number];

/** Of `http/` the rooms over it see the types of what it asks of them, and no more. */
const HTTP_TYPES = String.raw`worker\/http\/api\/[^/]+\.ts$|worker\/http\/answer\/kept-answer\.ts$`;

/** Local paths that files of a room may import. */
function below(room: Room): RegExp {
  const names = ROOMS.slice(0, ROOMS.indexOf(room)).filter((name) => name !== 'http');
  return new RegExp(String.raw`^(shared\/|${HTTP_TYPES}|worker\/(${names.join('|')})\/)`);
}

const room = (name: Room, packages: readonly string[], lazyPackages: Rule['lazyPackages'] = []): Rule => ({
  name: `worker/${name}`,
  files: new RegExp(String.raw`^worker\/${name}\/`),
  local: below(name),
  packages,
  lazyPackages,
});

const RULES: readonly Rule[] = [
  {
    name: 'shared/api',
    files: /^shared\/api\//,
    local: /^shared\/([^/]+|time\/date-time|process\/exit-codes)(\.ts)?$/,
    packages: ['typebox'],
    noNode: true,
  },
  {
    name: 'shared/config',
    files: /^shared\/config\//,
    local: /^shared\//,
    packages: ['ajv', 'ajv-formats', 'typebox', 'yaml'],
  },
  { name: 'shared/recovery', files: /^shared\/recovery\//, local: /^shared\//, packages: ['typebox'] },
  { name: 'shared/time', files: /^shared\/time\//, local: /^shared\//, packages: [], lazyPackages: ['croner'] },
  { name: 'shared', files: /^shared\//, local: /^shared\//, packages: ['better-sqlite3', 'pino'] },
  {
    name: 'worker entry of the CLI',
    files: /^supervisor\/cli\/start\/worker-entry\.ts$/,
    local:
      /^(shared|supervisor\/cli|worker\/(main|task|host\/app-options|host\/stored-(items|ingress|place)|runtime\/once-types)\.ts)/,
    packages: [],
  },
  {
    name: 'svc init, loaded by its command',
    files: /^supervisor\/cli\/init\//,
    local: /^(shared|supervisor\/cli)\//,
    packages: ['svc', '@clack/prompts', 'execa'],
  },
  {
    name: 'supervisor/cli',
    files: /^supervisor\/cli\//,
    local: /^(shared|supervisor)\//,
    packages: ['cac', 'picocolors', 'yaml'],
    lazyPackages: 'any',
  },
  {
    name: 'supervisor',
    files: /^supervisor\//,
    local: /^(shared\/(?!log\/logger|config\/)|supervisor\/(?!cli\/))/,
    packages: [],
  },
  {
    name: 'adapters and plugins',
    files: /^worker\/(adapters|plugins)\//,
    local:
      /^(worker\/sdk\/|shared\/(identifiers|secret|svc-error|error-codes|process\/exit-codes|time\/backoff|time\/abort)\.ts$)/,
    packages: [
      'standardwebhooks',
      'irc-framework',
      'grammy',
      '@discordjs/rest',
      '@discordjs/ws',
      '@line/bot-sdk',
      '@octokit/core',
      '@octokit/webhooks',
      '@slack/web-api',
      '@xmpp/client',
      'ws',
      'typebox',
    ],
    lazyPackages: [
      'grammy',
      '@discordjs/rest',
      '@discordjs/ws',
      '@line/bot-sdk',
      'irc-framework',
      'standardwebhooks',
      '@octokit/core',
      '@slack/web-api',
      '@xmpp/client',
    ],
  },
  {
    name: 'the table of what is built in',
    files: /^worker\/runtime\/loading\/built-ins\.ts$/,
    local: /^worker\/(adapters|plugins)\/[^/]+\/index\.ts$/,
    packages: [],
  },
  {
    name: 'HTTP',
    files: /^worker\/http\//,
    local: /^shared\//,
    packages: ['express', 'express-rate-limit', 'ws', 'typebox', 'ajv', 'ajv-formats'],
    lazyPackages: ['ajv', 'ajv-formats'],
  },
  {
    name: 'Console',
    files: /^worker\/console\//,
    local: /^shared\/api\//,
    packages: ['eventsource-client', 'typebox'],
    noNode: true,
  },
  room('sdk', ['typebox', 'ajv'], ['ajv', 'ajv-formats']),
  room('watchdog', []),
  room('database', ['better-sqlite3', 'kysely'], ['tsx', 'better-sqlite3']),
  room('core', []),
  room('files', ['kysely']),
  room('events', ['kysely', 'typebox', 'ws'], ['ws']),
  room('timers', ['kysely']),
  room('lanes', ['kysely']),
  room('endpoints', ['kysely', 'typebox', 'ws']),
  room('inbox', ['kysely', 'typebox']),
  room('outbox', ['kysely', 'typebox']),
  room('metrics', ['kysely', 'prom-client'], ['prom-client']),
  room('readiness', ['kysely']),
  room('handling', ['chrono-node', 'kysely', 'typebox'], ['chrono-node']),
  room('workroom', ['kysely', 'typebox']),
  room('ingress', ['kysely', 'typebox', 'ws'], ['ws']),
  room('jobs', ['kysely']),
  room('alerts', []),
  room('runtime', ['kysely', 'typebox'], ['tsx', 'chokidar', 'esbuild']),
  room('engine', ['kysely']),
  room('sandbox', ['kysely', 'typebox']),
  room('recovery', ['kysely', 'typebox', 'tar'], ['age-encryption']),
  {
    name: 'composition',
    files: /^worker\/(host|process|testing)\/|^worker\/[^/]+\.ts$/,
    local: /^(shared|worker)\/(?!testing\/)/,
    packages: ['kysely', 'better-sqlite3', 'typebox'],
  },
];

const files = sourceFiles(['shared', 'supervisor', 'worker']);

describe('import rules', () => {
  for (const rule of RULES) {
    it(`hold for ${rule.name}`, () => {
      const own = files.filter((file) => RULES.find(({ files: pattern }) => pattern.test(file.path)) === rule);

      const broken = own.flatMap((file) =>
        file.imports
          .filter((found) => !isAllowed(rule, file, found))
          .map(({ target }) => `${file.path} imports ${target}`),
      );

      assert.deepEqual(broken, []);
    });
  }

  it('cover every file', () => {
    assert.deepEqual(
      files.filter(({ path }) => !RULES.some((rule) => rule.files.test(path))).map(({ path }) => path),
      [],
    );
  });

  it('let nothing import test/', () => {
    assert.deepEqual(
      files.filter(({ imports }) => imports.some(({ target }) => target.startsWith('test/'))).map(({ path }) => path),
      [],
    );
  });

  it('let only entries and tests import worker/host/app.ts as a value', () => {
    const importers = files
      .filter(({ imports }) => imports.some(({ target, typeOnly }) => target === 'worker/host/app.ts' && !typeOnly))
      .map(({ path }) => path);

    assert.deepEqual(
      importers.filter((path) => path !== 'worker/main.ts'),
      [],
    );
  });

  it('keep stores to their own feature: others call the service', () => {
    const broken = files.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ target, typeOnly }) =>
            !typeOnly && /^worker\/[^/]+\/.*-store\.ts$/.test(target) && target.split('/')[1] !== path.split('/')[1],
        )
        .filter(({ target }) => !COMPOSES_STORES.test(path) && target !== DUE_TABLE)
        .map(({ target }) => `${path} imports ${target}`),
    );

    assert.deepEqual(broken, []);
  });

  it('let shared/sqlite.ts alone load SQLite: the other build of it aborts some versions of Node, in tests as well', () => {
    const own = 'test/rules/imports.test.ts';
    const loads = /(?:\brequire\(|^import [^\n]*from )["'`]better-sqlite3/m;
    const loaders = sourceFiles(['shared', 'supervisor', 'worker', 'test']).filter(
      ({ path, text, imports }) =>
        path !== own &&
        (imports.some(({ target, typeOnly }) => target === 'better-sqlite3' && !typeOnly) ||
          loads.test(text.replaceAll(/^import type .*$/gm, ''))),
    );

    assert.deepEqual(
      loaders.map(({ path }) => path),
      [],
    );
  });

  it('leave no circle between rooms', () => {
    const edges = files.flatMap(({ path, imports }) =>
      imports.filter(({ kind }) => kind === 'local').map(({ target }) => [roomOf(path), roomOf(target)] as const),
    );
    const next = new Map<string, Set<string>>();
    for (const [from, to] of edges) if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
    const reaches = (from: string): Set<string> => {
      const seen = new Set<string>();
      const open = [from];
      for (let at = open.pop(); at !== undefined; at = open.pop())
        for (const to of next.get(at) ?? []) if (!seen.has(to) && seen.add(to)) open.push(to);
      return seen;
    };

    assert.deepEqual(
      [...next.keys()].filter((from) => reaches(from).has(from)),
      [],
    );
  });

  it('leave nothing loose in worker/ but the entries, and no folder of over 20 files', () => {
    const folders = files.map(({ path }) => path.slice(0, path.lastIndexOf('/')));
    const count = (folder: string): number => folders.filter((name) => name === folder).length;

    assert.deepEqual(
      files.map(({ path }) => path).filter((path) => /^worker\/[^/]+$/.test(path)),
      ['worker/main.ts', 'worker/task.ts'],
    );
    assert.deepEqual(
      [...new Set(folders)].filter((folder) => count(folder) > 20),
      [],
    );
    const tests = sourceFiles(['test']).map(({ path }) => path.slice(0, path.lastIndexOf('/')));
    assert.deepEqual(
      [...new Set(tests)].filter((folder) => tests.filter((name) => name === folder).length > 20),
      [],
    );
  });

  it('keep TypeBox off the way of the supervisor and of the adapters', () => {
    const broken = files.filter(
      ({ path, imports }) =>
        /^supervisor\/(?!cli\/)/.test(path) &&
        imports.some(({ target, typeOnly }) => target === 'typebox' && !typeOnly),
    );

    assert.deepEqual(
      broken.map(({ path }) => path),
      [],
    );
  });
});

it('load no package both by import() and by require: while one is under way, Node gives the other a module without its names', () => {
  const lazy = files.flatMap(({ imports }) =>
    imports.filter((found) => found.lazy && !found.typeOnly && found.kind === 'package').map(({ target }) => target),
  );
  const required = files.flatMap(({ text }) =>
    [...text.matchAll(/\brequire\('([^'./][^'/]*)/g)].map(([, name]) => name),
  );

  assert.ok(required.includes('ajv'), 'the pattern finds what is required');
  assert.deepEqual(
    lazy.filter((name) => required.includes(name)),
    [],
  );
});

/** Composition, and the folder that joins the statements of several features to one unit. */
const COMPOSES_STORES = /^worker\/(host|engine|handling)\//;

/** Its statements join the unit of whoever wants to be woken, as those of the event history do. */
const DUE_TABLE = 'worker/timers/due-store.ts';

function isAllowed(rule: Rule, file: SourceFile, { target, kind, typeOnly, lazy }: SourceImport): boolean {
  switch (kind) {
    case 'node':
      return rule.noNode !== true;
    case 'local':
      return sameFolder(file.path, target) || (rule.local !== NOTHING && rule.local.test(target));
    case 'package':
      if (typeOnly || rule.packages.includes(target)) return true;
      return lazy && (rule.lazyPackages === 'any' || (rule.lazyPackages ?? []).includes(target));
  }
}

/** The same feature, adapter or plugin: `worker/adapters/irc`, `worker/http`, `shared`. */
const sameFolder = (a: string, b: string): boolean => featureOf(a) === featureOf(b);
function featureOf(path: string): string {
  const parts = path.split('/');
  const depth = ['adapters', 'plugins'].includes(parts[1] ?? '') ? 3 : 2;
  return parts.slice(0, Math.min(depth, parts.length - 1)).join('/');
}

/** `worker/http`, `supervisor/machine`, `shared`; the entries of the worker belong to `worker/process`. */
function roomOf(path: string): string {
  const [top = '', second = '', ...rest] = path.split('/');
  if (top === 'shared') return top;
  if (top === 'worker' && rest.length === 0) return 'worker/process';
  return rest.length === 0 ? top : `${top}/${second}`;
}
