// A project in git whose svc is a package of its own, so that npm installs it and a release exchanges it: two versions of its code, A and B.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { parse, stringify } from 'yaml';
import { removeLive } from '../disk/remove-live.ts';
import { commitAll, gitIn, runIn } from '../git-repository.ts';
import { type Ended, portProject, startProgram } from '../svc-command.ts';
import type { Cleanup, TemporaryProject } from '../temporary-project.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const NOT_COPIED = /\.map$|dist\/(test|failpoints|testing|\.compile-cache)$/u;
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

export interface ReleasedProject {
  readonly project: TemporaryProject;
  readonly url: string;
  /** Commits of both versions. A is checked out. */
  readonly commits: { readonly a: string; readonly b: string };
  /** Runs the installed svc. */
  svc(...args: readonly string[]): Promise<Ended>;
  /** Delivers a message; the status that it was answered with. */
  deliver(id: string): Promise<number>;
  git(...args: readonly string[]): string;
}

/** Writes each message that it handles into a file that no release moves. `more` is part of its setup, `then` ends its handler. */
export const plugin = (version: string, more = '', then = ''): string => `import { appendFileSync } from 'node:fs';
import { definePlugin, giveUp } from 'svc';
export default definePlugin({ name: 'book', setup(p) {
  ${more}
  p.on('message', {}, (ctx, message) => {
    appendFileSync('data/handled', '${version} ' + message.text + '\\n');
    ${then}
  });
} });
`;

/** What `plugin` has handled, in order: version and text. */
export const handledBy = ({ project }: Pick<ReleasedProject, 'project'>): readonly string[] =>
  existsSync(join(project.path, 'data/handled')) ? project.read('data/handled').split('\n').slice(0, -1) : [];

/** Adds a job over HTTP, as somebody may while ingress is paused. */
export async function putJob({ url, project }: ReleasedProject, id: string): Promise<void> {
  const say = { to: { endpoint: 'webhook~shop', conversation: 'room' }, text: id };
  const response = await fetch(`${url}/api/jobs/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${project.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cron: '0 16 * * *', do: { say } }),
  });
  if (!response.ok) throw new Error(`job ${id} was answered ${response.status}: ${await response.text()}`);
}

/** Number of the migration that a newer svc has, and that no other one opens. */
export const BREAKING_SCHEMA = 9_000;
const BREAKING = `{id:${BREAKING_SCHEMA},name:"${BREAKING_SCHEMA}-shades",breaking:!0,statements:["ALTER TABLE inbox ADD COLUMN shade TEXT NOT NULL DEFAULT 'plain'"]}`;
const MIGRATIONS = /\bMIGRATIONS ?= ?\[[\w$, \n]+(?=\])/;

export interface ReleasedOptions {
  /** Code of the plugin in B. */
  readonly b: string;
  /** The svc of B has a migration more, which breaks: the svc of A opens no database that has it. */
  readonly breaksSchema?: boolean;
  /** Scripts of npm in B. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** Secrets of the host by variable: each is a token of its own. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The project lies in a folder of its repository, beside `other/`. */
  readonly isBelowRoot?: boolean;
  /** Less than the default where a version shall not get ready: it is waited for so long. */
  readonly readySeconds?: number;
}

export async function releasedProject(
  t: Cleanup,
  { b, breaksSchema = false, scripts = {}, secrets = {}, isBelowRoot = false, readySeconds = 300 }: ReleasedOptions,
): Promise<ReleasedProject> {
  const root = isBelowRoot ? mkdtempSync(join(tmpdir(), 'svc-repository-')) : undefined;
  const { url, ...project } = await portProject(t, {
    keys: {
      plugins: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        webhook: { endpoints: [{ id: 'shop', secrets: ['${SHOP_SECRET}'] }] },
        book: { use: './book.mjs' },
      },
      release: { readySeconds },
    },
    env: { SHOP_SECRET: SECRET, ...secrets },
    ...(root === undefined ? {} : { prefix: join(basename(root), 'shop-') }),
  });
  if (root !== undefined) t.after(() => removeLive(root));
  addTokens(project, Object.keys(secrets));
  const { path } = project;
  const home = mkdtempSync(join(tmpdir(), 'svc-home-')); // npm writes logs there
  t.after(() => removeLive(home));
  const git = gitIn(path, home);
  cpSync(template(), path, { recursive: true, verbatimSymlinks: true });
  if (root !== undefined) {
    renameSync(join(path, '.git'), join(root, '.git'));
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other', 'main.js'), 'of another project\n');
  }
  const first = commitAll(git, 'A');
  // As npm would write it: B has the packages of A.
  for (const name of ['package.json', 'package-lock.json'])
    project.write(name, project.read(name).replaceAll('"version": "1.0.0"', '"version": "2.0.0"'));
  project.write('book.mjs', b);
  if (breaksSchema) addBreakingMigration(join(path, 'vendor', 'svc', 'dist'));
  const described = JSON.parse(project.read('package.json')) as object;
  project.write('package.json', `${JSON.stringify({ ...described, scripts }, null, 2)}\n`);
  const second = commitAll(git, 'B');
  git('checkout', '-q', first);
  const webhook = new Webhook(SECRET);
  return {
    project,
    url,
    commits: { a: first, b: second },
    git,
    svc: (...args) =>
      startProgram(join(path, 'node_modules/svc/dist/cli.js'), args, { cwd: path, env: { HOME: home } }).ended,
    async deliver(id) {
      const body = JSON.stringify({ conversation: { id: 'room' }, user: { id: 'ann' }, text: id });
      const at = new Date();
      const answer = await fetch(`${url}/webhooks/webhook/shop`, {
        method: 'POST',
        body,
        headers: {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': webhook.sign(id, at, body),
        },
      });
      return answer.status;
    },
  };
}

function addTokens(project: TemporaryProject, variables: readonly string[]): void {
  const config = parse(project.read('svc.config.yml')) as { readonly http: object };
  const tokens = variables.map((name, index) => ({ name: `more-${index}`, token: `\${${name}}`, scope: 'demo' }));
  if (tokens.length > 0) project.write('svc.config.yml', stringify({ ...config, http: { ...config.http, tokens } }));
}

let made: string | undefined;

/** A with what npm installs, in git, but for the configuration, which is of one project: made once a process, copied for each test. */
function template(): string {
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'svc-released-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [cwd, home] = [join(folder, 'project'), join(folder, 'home')];
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  installable(join(cwd, 'vendor', 'svc'));
  mkdirSync(join(cwd, 'data'));
  write(
    'package.json',
    `${JSON.stringify({ name: 'shop', version: '1.0.0', dependencies: { svc: 'file:vendor/svc' } }, null, 2)}\n`,
  );
  write('.gitignore', '.compile-cache/\n/node_modules/\n/.svc/\n/data/\n.env\n');
  write('book.mjs', plugin('A'));
  runIn('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd, home });
  const git = gitIn(cwd, home);
  git('init', '-q', '-b', 'main');
  commitAll(git, 'packages');
  made = cwd;
  return cwd;
}

/** The built svc as a package without dependencies to install: those of this repository are linked into it. */
function installable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(REPOSITORY, 'dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (path) => !NOT_COPIED.test(path),
  });
  cpSync(join(REPOSITORY, 'deploy'), join(folder, 'deploy'), { recursive: true });
  const { name, version, type, exports, bin, engines } = JSON.parse(
    readFileSync(join(REPOSITORY, 'package.json'), 'utf8'),
  ) as Record<string, unknown>;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, type, exports, bin, engines }));
  linkPackages(join(dirname(folder), 'node_modules'));
}

/** Beside the package, where npm does not look; a link for each, so that nothing can be removed through one. */
function linkPackages(folder: string): void {
  mkdirSync(folder);
  const packages = join(REPOSITORY, 'node_modules');
  for (const name of readdirSync(packages).filter((one) => !one.startsWith('.')))
    symlinkSync(join(packages, name), join(folder, name), 'dir');
}

/** In each bundle that has the list of migrations. */
function addBreakingMigration(dist: string): void {
  const files = readdirSync(dist)
    .filter((name) => /\.[cm]?js$/.test(name))
    .map((name) => join(dist, name))
    .filter((file) => MIGRATIONS.test(readFileSync(file, 'utf8')));
  if (files.length === 0) throw new Error('no bundle has the list of migrations');
  for (const file of files)
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(MIGRATIONS, (list) => `${list},${BREAKING}`),
    );
}
