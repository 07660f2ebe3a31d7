// Wrong usage, help, versions and closed pipes of the built command.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COMMANDS } from '../../../supervisor/cli/commands.ts';
import { helpText } from '../../../supervisor/cli/output/help-text.ts';
import { CLI, portProject, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const USAGE_ERRORS: readonly (readonly [string, RegExp])[] = [
  ['rutime', /^svc: unknown command 'rutime'; did you mean 'runtime'\?\n$/],
  ['agents list', /^svc: unknown command 'agents'\n +known are .*runtime/],
  [
    'start',
    /^svc: unknown command 'start'; did you mean 'svc runtime start', or 'svc service start', 'svc release start'\?\n$/,
  ],
  ['restrat', /^svc: unknown command 'restrat'; did you mean 'svc runtime restart'\?\n$/],
  [
    'check',
    /^svc: unknown command 'check'; did you mean 'svc release check', or 'svc jobs check', 'svc config check'\?\n$/,
  ],
  ['run', /^svc: unknown command 'run'; did you mean 'svc runtime start'\?\n$/],
  ['runtime strat', /did you mean 'start'\?/],
  ['runtime', /^svc: svc runtime needs one of start, stop, restart, reload, status, logs\n$/],
  ['runtime --json=1', /^svc: svc runtime needs one of start/],
  ['xyzzy', /^svc: unknown command 'xyzzy'\n {5}known are init, doctor, accept, chat, runtime, [\w, ]+\n$/],
  ['runtime stop --xyzzy', /^svc: unknown option '--xyzzy'\n {5}known are --json, [^\n]+, --now\n$/],
  ['runtime start --deamon', /unknown option '--deamon'; did you mean '--daemon'\?/],
  ['runtime start --mode', /--mode <mode> needs a value/],
  ['runtime start --mode sideways', /--mode takes development, production, test/],
  ['runtime start --mode production --mode test', /--mode is given more than once/],
  ['runtime start now', /unexpected 'now'/],
  ['accept --settle host', /--settle takes ROW=REASON/],
  ['accept --settle host=first --settle wether=fine', /unknown row 'wether'/],
  ['runtime start --daemon --once', /exclude each other/],
  ['runtime start --daemon --watch', /does not watch/],
  ['runtime start --watch --no-watch', /^svc: --watch and --no-watch exclude each other\n/],
  ['runtime start --no-watch --watch', /^svc: --watch and --no-watch exclude each other\n/],
  ['doctor --list --fix', /^svc: --list and --fix do not go together\n/],
  ['doctor --idle 40', /^svc: --idle goes with --edge alone\n/],
  ['doctor --edge https://host.example --idle 40s', /^svc: --idle takes a whole number of at least 1\n/],
  ['doctor --edge https://host.example --idle 3601', /^svc: --idle takes at most 3600 seconds\n/],
  ['doctor --live https://host.example --only node.version', /^svc: --live and --only do not go together\n/],
  ['service install --print --dry-run', /^svc: --print and --dry-run exclude each other\n/],
  ['runtime start --once --mode production', /--once takes --mode test/],
  ['runtime start --mode test', /--mode test goes with --once/],
  ['runtime start --mode test --no-watch', /--mode test goes with --once/],
  ['runtime logs --lines x', /--lines takes a whole number/],
  ['runtime logs --level loud', /--level takes trace or debug/],
  ['runtime logs --since yesterday', /--since takes a time such as 2026-01-31T12:00:00Z, or an age such as 90s/],
  ['runtime status --lines x', /--lines takes a whole number/],
  ['service logs --user --lines x', /--lines takes a whole number/],
  ['events tail --after 12', /--after takes the id of an event, such as [a-z0-9]{16}\.12, or oldest/],
  ['inbox show', /needs <id>/],
  ['doctor --only node.versoin', /unknown check 'node\.versoin'; did you mean 'node\.version'\?/],
  ['doctor --live host', /--live needs an address/],
  ['doctor --live https://user:pass@host/', /takes no credentials/],
  ['doctor --token abcdef', /--token is not taken/],
  ['help completions tcsh', /unknown shell 'tcsh'\n {5}known are bash, zsh, fish\n/],
  ['help exit-code', /unknown command 'exit-code'; did you mean 'exit-codes'\?/],
  ['--verison', /unknown option '--verison'; did you mean '--version'\?/],
];

const noFullDisk = !existsSync('/dev/full') && 'there is no /dev/full';

/** What a deploy does to a shell that stands in the folder of the release before. */
const STAND_IN_GONE = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';

const WITH_DEFAULTS = `http: { port: "\${EMPTY:-18068}", token: "\${HTTP_TOKEN}" }
host: { name: "\${NAMED} \${EMPTY:-bot}" }
`;

describe('wrong usage', { concurrency: 3 }, () => {
  for (const [line, expected] of USAGE_ERRORS)
    it(`ends with 2, one line and the nearest valid word: svc ${line}`, async (t) => {
      const project = temporaryProject(t);

      const { code, stdout, stderr } = await svc(line.split(' '), { cwd: project.path });

      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
      assert.equal(stdout, '');
    });
});

describe('the command line', { concurrency: 3 }, () => {
  it('prints the effective configuration as one that can be read again', async (t) => {
    const project = temporaryProject(t);

    const { code, stdout, stderr } = await svc(['config', 'show'], { cwd: project.path });

    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ {2}token: \$\{HTTP_TOKEN\} # env HTTP_TOKEN/m);
    assert.match(stdout, /^ {2}host: 127\.0\.0\.1 # default$/m);
  });

  it('names the variable whose value counts, not one that is empty beside its default', async (t) => {
    const project = temporaryProject(t, { config: WITH_DEFAULTS });
    const env = { EMPTY: '', NAMED: 'aida' };

    const { stdout } = await svc(['config', 'show'], { cwd: project.path, env });
    const asJson = await svc(['config', 'show', '--json'], { cwd: project.path, env });

    assert.match(stdout, /^ {2}port: 18068 # file$/m);
    assert.match(stdout, /^ {2}name: aida bot # env NAMED \(process\), EMPTY \(default\)$/m);
    assert.deepEqual(JSON.parse(asJson.stdout).sources['/http/port'], { source: 'file', variables: ['EMPTY'] });
  });

  it('says what to do where the folder that the shell stands in was removed, and needs none for a named project', async (t) => {
    const project = temporaryProject(t);
    const inGone = (...words: readonly string[]) =>
      spawnSync('sh', ['-c', STAND_IN_GONE, 'sh', process.execPath, CLI, ...words], {
        cwd: project.path,
        encoding: 'utf8',
      });

    const lost = inGone('runtime', 'status');
    const named = inGone('runtime', 'status', '--project', project.path);

    assert.equal(lost.status, 1);
    assert.match(
      lost.stderr,
      /^svc: the folder that this shell stands in was removed\n {5}cd into the project again[^\n]+\n$/,
    );
    assert.deepEqual([named.status, named.stdout], [3, 'nothing is running\n']);
  });

  it('takes what every command takes before it, too', async (t) => {
    const { path } = await portProject(t);
    const named = await svc(['--json', '--project', path, 'runtime', 'status'], { cwd: '/' });
    const joined = await svc([`--project=${path}`, '--no-color', 'config', 'check', '--json'], { cwd: '/' });

    assert.deepEqual(
      [named.code, JSON.parse(named.stdout).state],
      [3, JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout).state],
    );
    assert.deepEqual([joined.code, JSON.parse(joined.stdout).ok], [0, true]);
    assert.equal(JSON.parse((await svc(['--json', '--version'])).stdout).node, process.version);
    assert.equal((await svc(['--project'])).code, 2);
  });

  it('gives one JSON document for an error with --json', async () => {
    const { code, stdout, stderr } = await svc(['runtime', 'status', '--json'], { cwd: '/' });

    assert.equal(code, 1);
    assert.equal(JSON.parse(stdout).error.code, 'no_project');
    assert.equal(stderr, '');
  });

  it('has help with an example for every command', async () => {
    for (const { noun, verb } of COMMANDS) {
      const words = verb === undefined ? [noun] : [noun, verb];
      const text = await helpText(words);

      assert.match(text, /\nExamples\n {2}\S/, words.join(' '));
      assert.match(text, /--json/, words.join(' '));
    }
    const { code, stdout } = await svc(['inbox', 'show', '--help']);
    assert.deepEqual([code, stdout], [0, await helpText(['inbox', 'show'])]);
  });

  it('has the same help as one JSON document', async () => {
    const document = async (...words: string[]) => JSON.parse((await svc([...words, '--json'])).stdout);
    const all: { readonly commands: readonly { readonly command: string }[] } = await document('help');

    assert.equal(all.commands.length, COMMANDS.length);
    assert.deepEqual(
      (await document('inbox', '--help')).commands.map(({ command }: { readonly command: string }) => command),
      ['inbox list', 'inbox show', 'inbox replay', 'inbox hold', 'inbox drop'],
    );
    const { command, args, options, examples } = await document('inbox', 'show', '--help');
    assert.deepEqual([command, args, examples.length > 0], ['inbox show', '<id>', true]);
    assert.ok(options.some(({ flags }: { readonly flags: string }) => flags === '--json'));
    assert.equal((await svc(['help', 'nothing', '--json'])).code, 2);
    assert.deepEqual(await document(), all);
  });

  it('says which commands print a document a line', async () => {
    for (const words of ['events tail', 'chat', 'runtime logs']) {
      const help = (await svc([...words.split(' '), '--help'])).stdout;
      const { options } = JSON.parse((await svc([...words.split(' '), '--help', '--json'])).stdout);

      assert.match(help, /^ +--json +[^\n]*a JSON document (a line|for each)/im, words);
      assert.doesNotMatch(help, /One JSON document on stdout/, words);
      assert.equal(options.filter(({ flags }: { readonly flags: string }) => flags === '--json').length, 1, words);
    }
  });

  it('tells its version, for people and as JSON', async () => {
    assert.match((await svc(['--version'])).stdout, /^svc \d+\.\d+\.\d+\n$/);
    assert.deepEqual(Object.keys(JSON.parse((await svc(['--version', '--json'])).stdout)), [
      'version',
      'commit',
      'node',
      'platform',
    ]);
  });

  it('lists exit codes and variables', async () => {
    const { stdout } = await svc(['help', 'exit-codes']);
    for (const code of [0, 1, 2, 3, 51, 75, 78, 130]) assert.match(stdout, new RegExp(`^${code} `, 'm'));
    assert.match((await svc(['help', 'environment'])).stdout, /SVC_HTTP_TOKEN/);
  });

  it('ends quietly when its reader goes away', async () => {
    const child = spawn('sh', ['-c', '"$0" "$1" help | head -n 1', process.execPath, CLI], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));

    assert.match(text, /^The host for chat bots[^\n]+\n$/);
  });

  it('ends with 1, saying so, where what it prints is lost on a full disk; another code stays', {
    skip: noFullDisk,
  }, async (t) => {
    const { path } = temporaryProject(t);
    const ends: unknown[] = [];
    for (const args of [['config', 'schema'], ['--version'], ['runtime', 'status']]) {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
        cwd: path,
        stdio: ['ignore', full, 'pipe'],
      });
      closeSync(full);
      ends.push([status, /could not be written: ENOSPC/.test(String(stderr))]);
    }

    assert.deepEqual(ends, [
      [1, true],
      [1, true],
      [3, true],
    ]);
  });

  it('uses no colour but on a terminal', async () => {
    const { stdout } = await svc(['help', 'exit-codes'], { env: { TERM: 'xterm-256color', FORCE_COLOR: '1' } });

    assert.equal(stdout.includes('\u001b'), false);
  });

  it('completes nouns, verbs and options in a real shell', async () => {
    const { stdout } = await svc(['help', 'completions', 'bash']);
    const complete = (words: string, index: number): string =>
      `COMP_WORDS=(${words}); COMP_CWORD=${index}; _svc; echo "\${COMPREPLY[*]}"`;
    const child = spawn('bash', [
      '-c',
      `${stdout}\n${complete('svc run', 1)}\n${complete('svc runtime st', 2)}\n${complete('svc runtime start --da', 3)}\n${complete('svc doctor --li', 2)}`,
    ]);
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));

    assert.deepEqual(text.trim().split('\n'), ['runtime', 'start stop status', '--daemon', '--list --live']);
    assert.match((await svc(['help', 'completions', 'zsh'])).stdout, /^#compdef svc/);
    assert.match((await svc(['help', 'completions', 'fish'])).stdout, /complete -c svc/);
  });
});
