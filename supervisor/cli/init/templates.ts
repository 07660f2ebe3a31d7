// The files of a new project as texts. Pure: answers in, files out.
//
//   - Scripts start Node with `exec`, so that signals reach it and its exit codes (51, 75) reach the process manager.
//   - `npm run build` compiles `plugins/` to `dist/plugins/` for production. Development runs the TypeScript directly.
import { EXAMPLE_TOKEN } from '../../../shared/config/checks/token-checks.ts';
import { CONFIG_FILE, ENV_FILE } from '../../../shared/files/paths.ts';
import { HELLO_PLUGIN, HELLO_TEST } from './hello-plugin.ts';
import { type Platform, platformExample, platformKeys, platformVariables } from './platforms.ts';
import { projectReadme } from './project-readme.ts';
import { MORNING_JOBS, TICKETS_PLUGIN, TICKETS_TEST } from './tickets-plugin.ts';

/** What `host.kind` says. */
export const PROJECT_KINDS = ['bot', 'workroom'] as const;
export type ProjectKind = (typeof PROJECT_KINDS)[number];

export interface Answers {
  /** Name of the package. */
  readonly name: string;
  readonly kind: ProjectKind;
  readonly port: number;
  /** Version in package.json: a range, or `file:…`. */
  readonly svc: string;
  readonly sample: boolean;
  readonly platforms: readonly Platform[];
  /** Full-scope token, written to `.env` only. */
  readonly token: string;
  /** Of the sample's webhook, written to `.env` only. */
  readonly webhookSecret: string;
}

export interface TemplateFile {
  /** Path in the project. */
  readonly path: string;
  readonly text: string | Uint8Array;
  readonly mode: 0o600 | 0o644;
  /** A file of that name stays as it is. */
  readonly keepsOld?: boolean;
}

/** Lowest Node version of a new project. */
export const PROJECT_NODE = '>=22.12.0';

/** All files except the lockfile, which npm makes. */
export function projectFiles(answers: Answers): readonly TemplateFile[] {
  const file = (path: string, text: string, mode: TemplateFile['mode'] = 0o644): TemplateFile => ({ path, text, mode });
  const sample = sampleOf(answers);
  return [
    file('package.json', packageJson(answers)),
    file('tsconfig.json', TSCONFIG),
    file(CONFIG_FILE, configFile(answers)),
    file(
      ENV_FILE,
      `HTTP_TOKEN=${answers.token}\n${sample.variables}${answers.platforms.map(platformVariables).join('')}`,
      0o600,
    ),
    file('.env.example', `${ENV_EXAMPLE}${sample.example}${answers.platforms.map(platformExample).join('')}`),
    { ...file('README.md', projectReadme(answers)), keepsOld: true },
    file('.gitignore', GITIGNORE),
    file('.npmrc', NPMRC),
    ...sample.files.map(([path, text]) => file(path, text)),
  ];
}

interface Sample {
  readonly files: readonly (readonly [string, string])[];
  /** Its slot in the configuration. */
  readonly keys: string;
  /** Its lines of `.env`, and of `.env.example`. */
  readonly variables: string;
  readonly example: string;
}

function sampleOf({ sample, kind, webhookSecret }: Answers): Sample {
  if (!sample) return { files: [], keys: '', variables: '', example: '' };
  if (kind === 'bot')
    return {
      files: [
        ['plugins/hello/index.ts', HELLO_PLUGIN],
        ['plugins/hello/hello.test.ts', HELLO_TEST],
      ],
      keys: '  hello:\n    use: ./plugins/hello\n    greeting: Hello\n',
      variables: '',
      example: '',
    };
  return {
    files: [
      ['plugins/tickets/index.ts', TICKETS_PLUGIN],
      ['plugins/tickets/tickets.test.ts', TICKETS_TEST],
      ['data/schedule-jobs.json', MORNING_JOBS],
    ],
    keys: '  tickets:\n    use: ./plugins/tickets\n    secret: ${GITHUB_SECRET}\n    board: demo\n',
    variables: `GITHUB_SECRET=${webhookSecret}\n`,
    example: '# Secret of the webhook of a GitHub repository, for plugins.tickets.\nGITHUB_SECRET=\n',
  };
}

function packageJson({ name, svc }: Answers): string {
  const program = 'exec node node_modules/svc/dist/cli.js';
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: PROJECT_NODE },
    scripts: {
      build: 'tsc -p .',
      dev: `${program} runtime start --mode development`,
      start: `${program} runtime start --mode production --no-watch`,
      test: 'tsc -p . && exec node --test dist/plugins/*/*.test.js',
    },
    dependencies: { svc },
    devDependencies: { '@types/node': '^22.12.0', typescript: '^7.0.2' },
    allowScripts: { 'better-sqlite3': true },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'ES2023',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      skipLibCheck: true,
      rewriteRelativeImportExtensions: true,
      rootDir: '.',
      outDir: 'dist',
      sourceMap: true,
    },
    include: ['plugins'],
  },
  null,
  2,
)}\n`;

const configFile = (
  answers: Answers,
): string => `# yaml-language-server: $schema=./node_modules/svc/dist/config-schema.json
# \`npx svc config show\` prints every key with its value; \`npx svc config check\` finds faults.
${answers.kind === 'bot' ? '' : 'host:\n  kind: workroom\n\n'}http:
  host: \${HTTP_HOST:-127.0.0.1}
  port: \${HTTP_PORT:-${answers.port}}
  token: \${HTTP_TOKEN}

database:
  dialect: sqlite
  filename: .svc/data.sqlite

plugins:
  # A chat page at /, for trying things out.
  sandbox: {}
  help: {}
  ping: {}
  remind: {}
${answers.kind === 'bot' ? '' : '  # The board: /work.\n  work: {}\n'}${answers.platforms.map((platform) => `${platformKeys(platform)}\n`).join('')}${sampleOf(answers).keys}`;

const ENV_EXAMPLE = `# Copy to .env (chmod 600) and fill in. Lines are NAME=value without quotes, blanks, # or $.
# Full access to the HTTP interface: at least 16 characters; \`npx svc token create\` makes one of 256 bits.
HTTP_TOKEN=${EXAMPLE_TOKEN}
# HTTP_HOST=127.0.0.1
# HTTP_PORT=8068
`;

const GITIGNORE = `node_modules/
dist/
data/*
!data/schedule-jobs.json
.svc/
.env
.env.*
!.env.example
`;

const NPMRC = 'omit-lockfile-registry-resolved=true\n';
