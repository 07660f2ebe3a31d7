// The checks of new code, with a npm and a svc that only note how they are called: what is asked of whom, and when a tree that was checked before a release
// is used again.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openRelease, type ReleaseRecord, writeRelease } from '../../../shared/recovery/release-record.ts';
import { commands } from '../../../supervisor/cli/commands/release.ts';
import { checkAhead, checkTree } from '../../../supervisor/cli/release/check-tree.ts';
import { check } from '../../../supervisor/cli/release/steps.ts';
import { nextTree } from '../../../supervisor/cli/release/tree.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { gitProject } from '../../support/git-repository.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

/** Installs by copying a folder. */
const NPM = `#!/bin/sh
echo "npm $*" >> "$CALLS"
case "$1" in ci|install) cp -R "$INSTALLED" node_modules ;; esac
`;
/** Answers as it was told to, by its noun. */
const SVC = `const { appendFileSync, readFileSync } = require('node:fs');
const args = process.argv.slice(2);
appendFileSync(process.env.CALLS, 'svc ' + args.join(' ') + '\\n');
const { code = 0, json = {} } = JSON.parse(readFileSync(process.env.ANSWERS, 'utf8'))[args[0]] ?? {};
console.log(JSON.stringify(json));
process.exitCode = code;
`;

type Answers = Readonly<Record<string, { readonly code?: number; readonly json?: object }>>;
type Source = ReleaseRecord['source'];

function checking(t: TestContext, answers: Answers = {}) {
  const project = gitProject(t, { isBelowRoot: false });
  const { path } = project;
  project.write('src/main.js', 'A');
  project.write('.env', `${project.read('.env')}SHOP_KEY=of the shop\n`);
  const a = project.commit('A');
  project.write('src/main.js', 'B');
  const b = project.commit('B');
  project.git('checkout', '-q', a);
  const folder = mkdtempSync(join(tmpdir(), 'svc-fakes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const put = (name: string, text: string, mode = 0o644): string => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode });
    return join(folder, name);
  };
  put('bin/npm', NPM, 0o755);
  put('installed/svc/dist/cli.js', SVC);
  put('installed/@shop/prices/index.js', '');
  put('installed/.package-lock.json', '{"packages":{"node_modules/svc":{"version":"2.0.0"}}}\n');
  const from = dirname(put('next/package.json', '{}'));
  put('next/src/main.js', 'C');
  const calls = put('calls', '');
  const env = {
    ...project.options.env,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    CALLS: calls,
    INSTALLED: join(folder, 'installed'),
    ANSWERS: put('answers.json', JSON.stringify({ checkpoint: { json: { svc: '2.0.0', schema: 17 } }, ...answers })),
  };
  const caller = { project: path, context: { ...capturedContext(''), env } };
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  return {
    ...project,
    commits: { a, b },
    from,
    said,
    /** Lines of `npm …` and `svc …` since the last call. */
    takeCalls(): readonly string[] {
      const lines = readFileSync(calls, 'utf8').split('\n').slice(0, -1);
      writeFileSync(calls, '');
      return lines;
    },
    ahead: (source: Source) => checkAhead(caller, source, say),
    tree: (source: Source) => checkTree(caller, { name: 'r1', source }, say),
    check(source: Source): Promise<ReleaseRecord> {
      const record = releaseRecord({ steps: ['begun'], begunAt: 0, source });
      writeRelease(path, record);
      return check({ caller, record, actor: 'cli:somebody', say });
    },
  };
}

const commit = (value: string) => ({ kind: 'commit', value }) as const;
const AS_IT_WAS = 'the tree was checked before, and is as it was';

describe('the checks of new code', () => {
  it('are done by npm and by the svc of the new code, which takes the state over without the code of before', async (t) => {
    const of = checking(t);

    const { state, results, after } = await of.check(commit(of.commits.b));

    const next = nextTree(of.path, 'r1');
    const checks = 'node.version,node.modules,plugins.found,config.valid';
    assert.deepEqual(of.takeCalls(), [
      'npm ci',
      'npm run build --if-present',
      'npm test --if-present',
      `svc doctor --only ${checks} --json --project ${next}`,
      `svc runtime start --once --mode test --json --project ${next}`,
      `svc checkpoint verify c1 --state --json --project ${of.path}`,
    ]);
    assert.equal(state, 'checked');
    assert.deepEqual(Object.keys(results), ['install', 'build', 'test', 'doctor', 'once', 'migrate']);
    assert.deepEqual([after?.commit, after?.svc, after?.schema], [of.commits.b, '2.0.0', 17]);
  });

  it('end with what doctor finds, and what mends it', async (t) => {
    const finding = {
      id: 'config.valid',
      status: 'error',
      reason: 'plugins.shop: unknown key',
      fix: 'svc config check',
    };
    const checks = [{ id: 'node.version', status: 'ok', reason: 'Node' }, finding];
    const of = checking(t, { doctor: { code: 1, json: { checks } } });

    await assert.rejects(of.check(commit(of.commits.b)), {
      code: 'refused',
      message:
        'doctor of the new code failed: config.valid: plugins.shop: unknown key. What mends it: svc config check',
    });

    assert.equal(openRelease(of.path)?.state, 'begun');
    assert.match(of.read('.svc/releases/r1/check.log'), /^error config\.valid: plugins\.shop: unknown key$/m);
    assert.equal(
      of.takeCalls().some((line) => line.includes('--once')),
      false,
    );
  });

  it('never run npm for code without package.json: it would work on the project that serves', async (t) => {
    const of = checking(t);
    rmSync(join(of.from, 'package.json'));

    await assert.rejects(of.tree({ kind: 'folder', value: of.from }), /there is no package\.json in /);

    assert.deepEqual(of.takeCalls(), []);
    assert.equal(existsSync(join(of.path, 'node_modules')), false);
  });
});

describe('a tree that was checked before the release', () => {
  it('is used by it: nothing is installed, built or tried again', async (t) => {
    const of = checking(t);
    const { tree } = await of.ahead(commit(of.commits.b));
    of.takeCalls();

    const record = await of.check(commit(of.commits.b));

    assert.equal(of.said.includes(AS_IT_WAS), true);
    assert.deepEqual(of.takeCalls(), [`svc checkpoint verify c1 --state --json --project ${of.path}`]);
    assert.equal(record.tree, tree);
    const names = ['build', 'doctor', 'install', 'migrate', 'once', 'test'];
    assert.deepEqual(Object.keys(record.results).toSorted(), names);
    assert.equal(readFileSync(join(nextTree(of.path, 'r1'), 'src/main.js'), 'utf8'), 'B');
    assert.equal(existsSync(join(of.path, '.svc/releases/ahead')), false);
  });

  const changes: Readonly<Record<string, (tree: string, from: string) => void>> = {
    'a file of it has changed': (tree) => appendFileSync(join(tree, 'src/main.js'), ' edited'),
    'a file of it is gone': (tree) => rmSync(join(tree, 'src/main.js')),
    'a file has come': (tree) => writeFileSync(join(tree, 'src/more.js'), ''),
    'its packages are gone': (tree) => rmSync(join(tree, 'node_modules'), { recursive: true }),
    'one of its packages is gone': (tree) => rmSync(join(tree, 'node_modules/@shop/prices'), { recursive: true }),
    'npm has installed others': (tree) => writeFileSync(join(tree, 'node_modules/.package-lock.json'), '{}'),
    'a file of its folder has changed': (_, from) => appendFileSync(join(from, 'src/main.js'), ' edited'),
  };
  for (const [what, change] of Object.entries(changes))
    it(`is made and checked anew where ${what}`, async (t) => {
      const of = checking(t);
      const source = { kind: 'folder', value: of.from } as const;
      await of.ahead(source);
      of.takeCalls();
      change(nextTree(of.path, 'ahead'), of.from);

      const { state } = await of.check(source);

      assert.equal(of.said.includes(AS_IT_WAS), false);
      assert.deepEqual([of.takeCalls()[0], state], ['npm install', 'checked']);
    });

  it('is not used for another commit', async (t) => {
    const of = checking(t);
    await of.ahead(commit(of.commits.a));
    of.takeCalls();

    await of.check(commit(of.commits.b));

    assert.equal(of.takeCalls()[0], 'npm ci');
    assert.equal(readFileSync(join(nextTree(of.path, 'r1'), 'src/main.js'), 'utf8'), 'B');
  });
});

describe('a configuration that cannot be loaded', () => {
  it('stops no step, since a release may be what mends it: keys of release have their defaults', async (t) => {
    const { path, env, write } = temporaryProject(t);
    write('svc.config.yml', 'plugins: [');
    writeRelease(path, releaseRecord({ steps: ['begun', 'checked'], begunAt: 0 }));
    const start = commands.find(({ verb }) => verb === 'start') ?? assert.fail();
    const context = { ...capturedContext(''), env, project: () => path };

    await assert.rejects(start.run(context, [], {}), /is not the tree that was checked/);

    assert.match(
      context.notes.join('\n'),
      /^the configuration cannot be loaded, so keys of release have their defaults/,
    );
  });
});
