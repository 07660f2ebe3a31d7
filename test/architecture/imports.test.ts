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
const BARE_SHARED = /^shared\/(?!logger|config\/)/;
/** Types alone: what HTTP asks of whoever answers to it. */
const PORT = String.raw`worker\/http\/host-port\.ts$`;
const FEATURE = new RegExp(
  String.raw`^(shared\/|${PORT}|worker\/(sdk|database|events|inbox|lanes|outbox|schedule|handling)\/|worker\/endpoints\/endpoint-machine\.ts$|worker\/core\.ts$)`,
);
const OVER_FEATURES = new RegExp(
  String.raw`^(shared\/|${PORT}|worker\/(sdk|database|events|inbox|lanes|outbox|schedule|handling|metrics|runtime|endpoints|ingress)\/|worker\/(core|failpoints|task|engine-events|scoped-log|turns)\.ts$)`,
);

const RULES: readonly Rule[] = [
  { name: 'shared/api', files: /^shared\/api\//, local: /^shared\/[^/]+\.ts$/, packages: ['typebox'], noNode: true },
  {
    name: 'shared/config',
    files: /^shared\/config\//,
    local: /^shared\//,
    packages: ['ajv', 'ajv-formats', 'typebox', 'yaml'],
  },
  { name: 'shared', files: /^shared\//, local: /^shared\//, packages: ['pino', 'better-sqlite3'] },
  { name: 'supervisor', files: /^supervisor\/[^/]+\.ts$/, local: BARE_SHARED, packages: [] },
  {
    name: 'worker entry of the CLI',
    files: /^supervisor\/cli\/worker-entry\.ts$/,
    local: /^(shared|supervisor\/cli|worker\/(main|task|app-options)\.ts)/,
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
    name: 'SDK',
    files: /^worker\/sdk\/(?!testing\/)/,
    local: /^(shared|worker\/sdk)\//,
    packages: ['typebox', 'ajv'],
    lazyPackages: ['ajv', 'ajv-formats'],
  },
  {
    name: 'SDK testing',
    files: /^worker\/sdk\/testing\//,
    local: /^(shared|worker)\/(?!http\/|adapters\/|plugins\/|app\.ts|main\.ts|task\.ts)/,
    packages: ['typebox', 'better-sqlite3'],
  },
  {
    name: 'adapters and plugins',
    files: /^worker\/(adapters|plugins)\//,
    local: /^(worker\/sdk\/|shared\/(identifiers|secret|svc-error|error-codes|exit-codes|backoff|abort)\.ts$)/,
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
    name: 'database',
    files: /^worker\/database\//,
    local: /^(shared\/|worker\/watchdog\/|worker\/(core|failpoints)\.ts$)/,
    packages: ['better-sqlite3', 'kysely'],
    lazyPackages: ['tsx', 'better-sqlite3'],
  },
  { name: 'watchdog', files: /^worker\/watchdog\//, local: /^(shared|worker\/watchdog)\//, packages: [] },
  {
    name: 'features',
    files: /^worker\/(inbox|lanes|outbox|events|schedule|handling|metrics|readiness)\//,
    local: FEATURE,
    packages: ['croner', 'kysely', 'typebox', 'prom-client', 'ws'],
    lazyPackages: ['prom-client', 'ws'],
  },
  {
    name: 'the table of what is built in',
    files: /^worker\/runtime\/built-ins\.ts$/,
    local: /^worker\/(adapters|plugins)\/[^/]+\/index\.ts$/,
    packages: [],
  },
  {
    name: 'runtime, endpoints, ingress',
    files: /^worker\/(runtime|endpoints|ingress)\//,
    local: OVER_FEATURES,
    packages: ['kysely', 'typebox', 'ws'],
    lazyPackages: ['tsx', 'chokidar', 'esbuild'],
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
  {
    name: 'composition',
    files: /^worker\/[^/]+\.ts$/,
    local: /^(shared|worker)\//,
    packages: ['kysely', 'better-sqlite3'],
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

  it('let only entries and tests import worker/app.ts as a value', () => {
    const importers = files
      .filter(({ imports }) => imports.some(({ target, typeOnly }) => target === 'worker/app.ts' && !typeOnly))
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
    const own = 'test/architecture/imports.test.ts';
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

  it('keep TypeBox off the way of the supervisor and of the adapters', () => {
    const broken = files.filter(
      ({ path, imports }) =>
        /^supervisor\/[^/]+\.ts$/.test(path) &&
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
const COMPOSES_STORES = /^worker\/([^/]+\.ts$|handling\/)/;

/** Its statements join the unit of whoever wants to be woken, as those of the event history do. */
const DUE_TABLE = 'worker/schedule/due-store.ts';

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
