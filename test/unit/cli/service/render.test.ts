import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { launchdLabel, systemServiceName, userServiceName } from '../../../../supervisor/cli/service/names.ts';
import { renderPlist, renderUnit, type ServiceFacts } from '../../../../supervisor/cli/service/render.ts';
import { WORKER_OPTIONS } from '../../../../supervisor/cli/start/worker-entry.ts';
import { type Dictionary, parsePlist } from '../../../support/owners/plist.ts';

const DEPLOY = join(import.meta.dirname, '../../../../deploy');
const template = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');
const STRANGE = '/home/ann/my bot "1" 100% $HOME & <co>';

const facts = (changes: Partial<ServiceFacts> = {}): ServiceFacts => ({
  name: 'svc-bot-012345',
  project: '/home/ann/bot',
  stateDir: '/home/ann/bot/.svc',
  dataDir: '/home/ann/bot/data',
  node: '/usr/bin/node',
  workerOptions: WORKER_OPTIONS,
  cli: '/home/ann/bot/node_modules/svc/dist/cli.js',
  path: '/usr/bin:/bin',
  host: '127.0.0.1',
  port: 8068,
  stopSeconds: 15,
  ...changes,
});
const lineOf = (text: string, key: string): string | undefined => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1];

describe('names of services', () => {
  it('are svc@ for /srv/svc/<user> and for no other folder (SERVICE-NAME-1)', () => {
    assert.equal(systemServiceName('/srv/svc/alice'), 'svc@alice');
    for (const other of ['/srv/svc', '/srv/svc/alice/bot', '/srv/alice', '/srv/svc/Alice B', '/home/alice'])
      assert.equal(systemServiceName(other), undefined, other);
  });

  it('differ for two folders of one name, and hold only what a unit name may (SERVICE-NAME-2)', () => {
    assert.match(userServiceName('/home/ann/bot'), /^svc-bot-[0-9a-f]{6}$/);
    assert.notEqual(userServiceName('/home/ann/bot'), userServiceName('/home/bob/bot'));
    assert.match(userServiceName('/home/ann/bot für Müller %i'), /^svc-bot-f-r-M-ller-i-[0-9a-f]{6}$/);
    assert.match(userServiceName('/home/ann/…'), /^svc-project-[0-9a-f]{6}$/);
    assert.match(launchdLabel('/Users/ann/bot'), /^io\.svc\.bot-[0-9a-f]{6}$/);
  });
});

describe('the options of Node for a worker', () => {
  it('are the same under systemd, launchd and the supervisor', () => {
    for (const workerOptions of [[], ['--max-semi-space-size=16']]) {
      const given = facts({ workerOptions });
      const words = [given.node, ...workerOptions, given.cli, 'runtime', 'start'];
      for (const name of ['svc@.service', 'user.service'])
        assert.ok(
          lineOf(renderUnit(template(`systemd/${name}`), given), 'ExecStart')?.startsWith(`${words.join(' ')} `),
          name,
        );
      const plist = parsePlist(renderPlist(template('launchd/agent.plist'), given)) as Dictionary;
      assert.deepEqual((plist['ProgramArguments'] as readonly string[]).slice(0, words.length), words);
    }
  });
});

describe('renderUnit', () => {
  it('fills every place of every template (RENDER-1)', () => {
    for (const name of ['svc@.service', 'svc@.socket', 'user.service', 'user.socket'])
      assert.doesNotMatch(
        renderUnit(template(`systemd/${name}`), facts()).replaceAll(/^#.*$/gm, ''),
        /@[A-Z_]+@/,
        name,
      );
  });

  it('throws for a name that nobody gives (RENDER-1)', () => {
    assert.throws(() => renderUnit('X=@NOBODY@', facts()), /NOBODY/);
  });

  it('writes a path as each place wants it (RENDER-2)', () => {
    const text = renderUnit(template('systemd/user.service'), facts({ project: STRANGE, stateDir: `${STRANGE}/.svc` }));

    assert.equal(lineOf(text, 'WorkingDirectory'), '/home/ann/my bot "1" 100%% $HOME & <co>');
    assert.ok(lineOf(text, 'ExecStart')?.endsWith(String.raw`--project "/home/ann/my bot \"1\" 100%% $$HOME & <co>"`));
    assert.ok(
      lineOf(text, 'ReadWritePaths')?.startsWith(String.raw`"/home/ann/my bot \"1\" 100%% $HOME & <co>/.svc" `),
    );
  });

  it('leaves the program of a command line as it is: systemd looks for no variables there', () => {
    const text = renderUnit(template('systemd/user.service'), facts({ node: '/opt/a $b/node' }));

    assert.ok(lineOf(text, 'ExecStart')?.startsWith('"/opt/a $b/node" '));
  });

  it('refuses a path that cannot be written (RENDER-2)', () => {
    for (const project of ['/a\nExecStartPre=/bin/evil', '/a\u0000b', String.raw`/a\b`])
      assert.throws(() => renderUnit(template('systemd/user.service'), facts({ project })), { code: 'refused' });
  });

  it('brackets an address of IPv6', () => {
    assert.equal(
      lineOf(renderUnit(template('systemd/user.socket'), facts({ host: '::1' })), 'ListenStream'),
      '[::1]:8068',
    );
  });
});

describe('the unit of the system', () => {
  const text = renderUnit(template('systemd/svc@.service'), facts({ name: 'svc@alice' }));

  it('starts 5 times in 120 s, again for 51 and 75, never for 78', () => {
    assert.equal(lineOf(text, 'StartLimitIntervalSec'), '120');
    assert.equal(lineOf(text, 'StartLimitBurst'), '5');
    assert.equal(lineOf(text, 'RestartForceExitStatus'), '51 75');
    assert.equal(lineOf(text, 'RestartPreventExitStatus'), '78');
    assert.equal(lineOf(text, 'SuccessExitStatus'), undefined);
  });

  it('is told when the worker is up, watches it, and gives a drain its time', () => {
    assert.equal(lineOf(text, 'Type'), 'notify');
    assert.ok(Number(lineOf(text, 'WatchdogSec')) > 0);
    assert.equal(lineOf(text, 'TimeoutStopSec'), '15');
  });

  it('leaves the compiler of JavaScript its memory', () => {
    assert.doesNotMatch(text, /^MemoryDenyWriteExecute/m);
  });
});

describe('the launch agent', () => {
  const agent = parsePlist(
    renderPlist(template('launchd/agent.plist'), facts({ name: 'io.svc.x', project: STRANGE })),
  ) as Dictionary;

  it('names the project as it is, whatever it holds (RENDER-2)', () => {
    assert.equal(agent['WorkingDirectory'], STRANGE);
    assert.equal((agent['ProgramArguments'] as readonly string[]).at(-1), STRANGE);
  });

  it('is started again unless it ended with 0, and at most each 10 s', () => {
    assert.deepEqual(agent['KeepAlive'], { SuccessfulExit: false });
    assert.ok(Number(agent['ThrottleInterval']) >= 10);
    assert.equal(agent['RunAtLoad'], true);
  });

  it('holds no secret: its environment has two names', () => {
    assert.deepEqual(Object.keys(agent['EnvironmentVariables'] as Dictionary), ['NODE_ENV', 'PATH']);
  });
});
