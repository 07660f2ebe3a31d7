// Who may know a secret, and whose files are run: the built host with secrets in every place that takes one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { OTHER_USER, otherUserMissing } from '../../support/owners/other-user.ts';
import { lives } from '../../support/process/supervised.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const canary = (): string => `canary${randomBytes(18).toString('hex')}`;
const ref = (name: string): string => `\${${name}}`;

/** By variables whose names say nothing. */
const CANARIES: Readonly<Record<string, string>> = {
  HOOK_ONE: `whsec_${Buffer.from(canary()).toString('base64')}`,
  HOOK_TWO: `whsec_${Buffer.from(canary()).toString('base64')}`,
  OWN_ONE: canary(),
  OWN_TWO: canary(),
  OWN_THREE: canary(),
  PACKAGE_ONE: canary(),
  UNUSED_ONE: canary(),
};
/** No secret by its schema: the same everywhere. */
const PLAIN = { OWN_REGION: 'region-of-the-test' };

/** Writes the environment of a child, as Node hands it down by itself, wherever its code runs. */
const CHILDREN = `import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { definePlugin, t } from 'svc';
const note = (when) => writeFileSync(process.cwd() + '/child-NAME-' + when, execFileSync('env'));
note('import');
export default definePlugin({ name: 'NAME', config: KEYS, setup(p) {
  note('setup');
  p.command('NAME', { summary: 'Spawns' }, () => { note('command'); return 'done'; });
} });
`;
const OWN = CHILDREN.replaceAll('NAME', 'own').replace(
  'KEYS',
  '{ one: t.secret(), region: t.string(), list: t.array(t.secret()), deep: t.object({ inner: t.object({ key: t.secret() }) }) }',
);
const PACKAGED = CHILDREN.replaceAll('NAME', 'packaged').replace('KEYS', '{ parts: t.array(t.secret()) }');

async function secretProject(t: TestContext) {
  const project = await portProject(t, {
    keys: {
      supervisor: { standby: true },
      plugins: {
        sandbox: {},
        webhook: {
          endpoints: [
            { id: 'shop', url: 'http://127.0.0.1:1', secrets: [ref('HOOK_ONE')], outgoingSecrets: [ref('HOOK_TWO')] },
          ],
        },
        own: {
          use: './plugins/own.js',
          one: ref('OWN_ONE'),
          region: ref('OWN_REGION'),
          list: [ref('OWN_TWO')],
          deep: { inner: { key: ref('OWN_THREE') } },
        },
        packaged: { parts: [ref('PACKAGE_ONE')] },
        unused: { use: './plugins/own.js', enabled: false, list: [ref('UNUSED_ONE')] },
      },
    },
    plugins: { 'own.js': OWN },
  });
  project.write('node_modules/packaged/package.json', '{"name":"packaged","type":"module","exports":"./index.js"}');
  project.write('node_modules/packaged/index.js', PACKAGED);
  return project;
}

const environmentOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'latin1');
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);

function assertNone(where: string, text: string): void {
  for (const [name, value] of Object.entries(CANARIES))
    assert.equal(text.includes(value), false, `${name} is in the environment of ${where}`);
}

/** What children of plugins were given, wherever they were started. */
function assertChildren({ path, read }: Awaited<ReturnType<typeof secretProject>>): void {
  for (const name of ['own', 'packaged'])
    for (const when of ['import', 'setup', 'command'])
      if (existsSync(join(path, `child-${name}-${when}`)))
        assertNone(`a child, ${name} ${when}`, read(`child-${name}-${when}`));
  assert.match(read('child-own-setup'), /^OWN_REGION=region-of-the-test$/m);
}

async function say(url: string, token: string, text: string): Promise<void> {
  const answer = await fetch(`${url}/api/chat/say`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ person: 'ann', text, delivery: randomBytes(6).toString('hex') }),
  });
  assert.equal(answer.status < 300, true, await answer.text());
}

describe('secrets of the process environment, by the marks of schemas', { concurrency: 3 }, () => {
  it('are in no process of a daemon, and in no child of its plugins', async (t) => {
    const project = await secretProject(t);
    const { path, url, token } = project;
    const env = { ...CANARIES, ...PLAIN };
    const started = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path, env });
    assert.equal(started.code, 0, started.stdout + started.stderr);
    const { pid, supervisorPid } = JSON.parse(started.stdout);
    await say(url, token, '/own');
    await say(url, token, '/packaged');
    await until(() => existsSync(join(path, 'child-own-command')) && existsSync(join(path, 'child-packaged-command')), {
      what: 'the children of commands',
    });
    const [spare] = await until(
      () => {
        const others = childrenOf(supervisorPid).filter((child) => child !== pid && lives(child));
        return others.length > 0 && /spare worker ready/.test(project.read('.svc/runtime.log')) && others;
      },
      { what: 'a spare' },
    );

    for (const [where, of] of [
      ['supervisor', supervisorPid],
      ['worker', pid],
      ['spare', spare ?? 0],
    ] as const)
      assertNone(where, environmentOf(of));
    assertChildren(project);
    const restarted = await svc(['runtime', 'restart', '--json'], { cwd: path });
    assert.equal(restarted.code, 0, restarted.stdout + restarted.stderr);
    assertNone('the next worker', environmentOf(JSON.parse(restarted.stdout).pid));
  });

  it('are in no child of plugins of a host in the foreground', async (t) => {
    const project = await secretProject(t);
    const { path, url, token } = project;
    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], {
      cwd: path,
      env: { ...CANARIES, ...PLAIN, HTTP_TOKEN: token },
    });
    t.after(() => void host.child.kill('SIGKILL'));
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the host to be ready' });
    await say(url, token, '/own');
    await until(() => existsSync(join(path, 'child-own-command')), { what: 'the child of a command' });

    assertChildren(project);
    assert.equal(project.read('child-own-import').includes(token), false, 'the token of the host');
    const told = /"variables":\[([^\]]*)\].*\/proc shows them to this user/.exec(host.output())?.[1];
    assert.deepEqual(
      told?.split(',').map((name) => JSON.parse(name)),
      ['HTTP_TOKEN', ...Object.keys(CANARIES)].toSorted(),
    );
  });

  it('are in no child of plugins that a check or a start with --once loads', async (t) => {
    const project = await secretProject(t);
    for (const args of [
      ['runtime', 'start', '--once', '--mode', 'test'],
      ['config', 'check'],
    ]) {
      const { code, stdout, stderr } = await svc(args, { cwd: project.path, env: { ...CANARIES, ...PLAIN } });
      assert.equal(code, 0, stdout + stderr);
      assertChildren(project);
    }
  });
});

const PLUGIN = `import { definePlugin } from 'svc';
import './part.js';
export default definePlugin({ name: 'own', setup(p) { p.command('own', { summary: 'Own' }, () => 'own'); } });
`;

async function plainProject(t: TestContext) {
  const project = await portProject(t, {
    keys: { plugins: { sandbox: {}, own: { use: './plugins/own/index.js' }, packaged: {} } },
    plugins: { 'own/index.js': PLUGIN, 'own/part.js': 'export const part = 1;\n' },
  });
  project.write('node_modules/packaged/package.json', '{"name":"packaged","type":"module","exports":"./lib/index.js"}');
  project.write(
    'node_modules/packaged/lib/index.js',
    "import { definePlugin } from 'svc';\nexport default definePlugin({ name: 'packaged', setup() {} });\n",
  );
  project.write('data/x', '');
  return project;
}

/** What is read before any plugin is known, and what belongs to plugins. */
const CHANGEABLE = [
  ['.', 'data', 'node_modules', 'package.json', 'plugins', 'svc.config.yml'],
  [
    'node_modules/packaged',
    'node_modules/packaged/lib',
    'node_modules/packaged/lib/index.js',
    'node_modules/packaged/package.json',
    'plugins/own',
    'plugins/own/index.js',
    'plugins/own/part.js',
  ],
];

describe('files that anybody may write', { concurrency: 3 }, () => {
  it('are refused in production, each by its name and with the command that mends it', async (t) => {
    const { path } = await plainProject(t);
    for (const names of CHANGEABLE) {
      const modes = names.map((name) => statSync(join(path, name)).mode);
      for (const [index, name] of names.entries()) chmodSync(join(path, name), (modes[index] ?? 0) | 0o022);
      const { code, stdout } = await svc(['config', 'check', '--json'], { cwd: path });
      for (const [index, name] of names.entries()) chmodSync(join(path, name), modes[index] ?? 0);

      const faults = JSON.parse(stdout).faults as readonly { readonly file: string; readonly message: string }[];
      assert.deepEqual([code, faults.map(({ file }) => file).toSorted()], [78, names]);
      for (const { file, message } of faults) {
        assert.match(message, /^can be written by others \(mode 07[27]\d\)|^can be written by others \(mode 0666\)/);
        assert.ok(message.endsWith(`; chmod o-w,g-w ${file}`), message);
      }
    }
    assert.equal((await svc(['config', 'check'], { cwd: path })).code, 0);
  });

  it('start nothing, run nothing, and are mended by svc doctor --fix', async (t) => {
    const project = await plainProject(t);
    const { path } = project;
    project.write('plugins/own/part.js', `import { writeFileSync } from 'node:fs';\nwriteFileSync('ran', '');\n`);
    for (const name of ['plugins/own/part.js', 'node_modules/packaged/lib']) chmodSync(join(path, name), 0o777);

    for (const how of [['--daemon'], ['--mode', 'production', '--no-watch']]) {
      const { code, stderr } = await svc(['runtime', 'start', ...how], { cwd: path });
      assert.equal(code, 78, stderr);
      assert.match(stderr, /plugins\/own\/part\.js:1:1 can be written by others \(mode 0777\); chmod o-w,g-w plugins/);
      assert.match(stderr, /node_modules\/packaged\/lib:1:1 .*any file in it can be replaced/);
    }
    assert.equal(existsSync(join(path, 'ran')), false, 'no code of it ran');
    const fixed = await svc(['doctor', '--only', 'files.rights', '--fix', '--yes', '--json'], { cwd: path });

    assert.deepEqual([fixed.code, JSON.parse(fixed.stdout).fixed], [0, ['files.rights']]);
    assert.equal(statSync(join(path, 'plugins/own/part.js')).mode & 0o777, 0o755);
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
  });

  for (const [what, name] of [
    ['configuration', 'svc.config.yml'],
    ['code', 'plugins/own/part.js'],
  ] as const)
    it(`end no worker that runs: a restart is refused before it drains (${what})`, async (t) => {
      const { path } = await plainProject(t);
      const started = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path });
      assert.equal(started.code, 0, started.stderr);
      chmodSync(join(path, name), 0o666);

      const { code, stderr } = await svc(['runtime', 'restart'], { cwd: path });

      assert.equal(code, 78, stderr);
      assert.match(stderr, /can be written by others \(mode 0666\)/);
      assert.match(stderr, /nothing was restarted/);
      const status = JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);
      assert.deepEqual([status.ready, status.pid], [true, JSON.parse(started.stdout).pid]);
      chmodSync(join(path, name), 0o644);
      assert.equal((await svc(['runtime', 'restart'], { cwd: path })).code, 0);
    });

  it('are a warning in development, as are those that a group may write', async (t) => {
    const { path } = await plainProject(t);
    for (const name of ['svc.config.yml', 'plugins/own/part.js']) chmodSync(join(path, name), 0o666);
    const development = await svc(['config', 'check', '--mode', 'development', '--json'], { cwd: path });

    assert.deepEqual(
      [development.code, JSON.parse(development.stdout).warnings],
      [
        0,
        [
          'svc.config.yml:1:1 can be written by others (mode 0666); chmod o-w,g-w svc.config.yml',
          'plugins/own/part.js:1:1 can be written by others (mode 0666); chmod o-w,g-w plugins/own/part.js',
        ],
      ],
    );
  });

  it('are refused as well where they belong to a stranger', {
    skip: otherUserMissing(),
  }, async (t) => {
    const { path } = await plainProject(t);
    execFileSync('chown', ['-R', `${OTHER_USER}:${OTHER_USER}`, path]);
    chownSync(join(path, 'plugins/own/index.js'), 4_242, 4_242);

    const { code, stderr } = await svc(['config', 'check'], { cwd: path, user: OTHER_USER });
    const { code: asRoot } = await svc(['config', 'check'], { cwd: path });

    assert.equal(code, 78);
    assert.match(stderr, /plugins\/own\/index\.js:1:1 belongs to user 4242, not to 65534 or root; chown 65534 plugins/);
    assert.equal(asRoot, 0, 'root runs what belongs to others');
  });
});

/** Turns the direction, hides a letter, clears the screen. */
const MARKS = 'pay\u202e001\u2066\u200b\u001b[2J\u009b';
const HOSTILE_TEXTS = `import { definePlugin, t } from 'svc';
const marks = ${JSON.stringify(MARKS)};
export default definePlugin({ name: 'own', setup(p) {
  const pick = p.action('pick', { data: { n: t.integer() } }, () => 'picked');
  p.command('ask', { summary: 'Asks' }, () => ({ text: 'Pick', buttons: [pick.button(marks, { n: 1 })] }));
  p.command('fail', { summary: 'Fails', attempts: 1 }, () => { throw new Error(marks); });
} });
`;

describe('marks that show another text than there is', { concurrency: 3 }, () => {
  it('come to no platform in a label, and to no terminal in what a command prints', async (t) => {
    const project = await portProject(t, {
      keys: { plugins: { sandbox: {}, own: { use: './plugins/own.js' } } },
      plugins: { 'own.js': HOSTILE_TEXTS },
    });
    const { path, url, token } = project;
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    await say(url, token, '/ask');
    await say(url, token, '/fail');
    const dead = await until(
      async () =>
        JSON.parse((await svc(['inbox', 'list', '--state', 'dead', '--json'], { cwd: path })).stdout).items[0],
      { what: 'the item that failed' },
    );

    const messages = await fetch(`${url}/api/chat/messages?person=ann&after=0`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.match(await messages.text(), /"label":"pay001 \[2J"/);
    assert.ok(dead.lastError.includes('pay'));
    for (const args of [
      ['inbox', 'list', '--state', 'dead'],
      ['inbox', 'list', '--state', 'dead', '--json'],
      ['inbox', 'show', dead.id],
      ['runtime', 'logs'],
      ['runtime', 'logs', '--json'],
    ]) {
      const { stdout, stderr } = await svc(args, { cwd: path });
      assert.match(stdout, /pay\\u202e001\\u2066\\u200b/, args.join(' '));
      assert.doesNotMatch(stdout + stderr, UNSEEN, args.join(' '));
    }
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/;
