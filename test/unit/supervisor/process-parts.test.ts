// Small parts of the worker process and the command line.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkStateFolder, ensureStateFolder, volumeNote } from '../../../shared/files/state-folder.ts';
import { formatLogLine, isAtLeast } from '../../../shared/log/log-line.ts';
import { bootId, identify, isAlive, isElsewhere } from '../../../shared/process/process-identity.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { tableText } from '../../../supervisor/cli/output/printer.ts';
import { restartOwner } from '../../../worker/process/owner/restart-owner.ts';

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-parts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

describe('restartOwner', () => {
  const of = (
    environment: Record<string, string>,
    birth: Partial<{ supervised: boolean; pid: number; ppid: number; files: string[] }> = {},
  ) =>
    restartOwner({
      supervised: birth.supervised ?? false,
      pid: birth.pid ?? 500,
      ppid: birth.ppid ?? 400,
      environment,
      exists: (path) => birth.files?.includes(path) === true,
    });

  it('tells who started the process, and is not fooled by what a shell inherits', () => {
    assert.deepEqual(
      [
        of({}, { supervised: true }),
        of({ INVOCATION_ID: 'x', NOTIFY_SOCKET: '/run/n' }),
        of({ INVOCATION_ID: 'x', SYSTEMD_EXEC_PID: '500' }),
        of({ INVOCATION_ID: 'x', SYSTEMD_EXEC_PID: '400' }),
        of({ INVOCATION_ID: 'x', SYSTEMD_EXEC_PID: '77' }),
        of({ INVOCATION_ID: 'x' }),
        of({ pm_id: '0', PM2_HOME: '/h' }),
        of({ XPC_SERVICE_NAME: 'com.x' }, { ppid: 1 }),
        of({}, { pid: 1 }),
        of({}, { files: ['/.dockerenv'] }),
        of({ SVC_INIT: 'sh' }, { ppid: 1 }),
        of({ SVC_INIT: 'sh' }),
        of({}),
      ],
      [
        'daemon',
        'systemd',
        'systemd',
        'systemd',
        'foreground',
        'foreground',
        'pm2',
        'launchd',
        'container',
        'foreground',
        'container',
        'foreground',
        'foreground',
      ],
    );
  });

  it('takes a child of the first process for that of a container only where that ends with it (RESTART-OWNER-1)', () => {
    const under = (comm: string, children = '500 600', ...files: string[]) =>
      below({ KUBERNETES_SERVICE_HOST: 'x' }, comm, children, ...files);
    const below = (environment: Record<string, string>, comm: string, children: string, ...files: string[]) =>
      restartOwner({
        supervised: false,
        pid: 500,
        ppid: 1,
        environment: files.length > 0 ? {} : environment,
        exists: (path) => files.includes(path),
        read: (path) => (path === '/proc/1/comm' ? `${comm}\n` : children),
      });

    for (const init of ['tini', 'dumb-init', 'docker-init', 'catatonit', 'podman-init', 'npm start'])
      assert.equal(under(init), 'container', init);
    assert.equal(under('tini', '500', '/.dockerenv'), 'container');
    assert.equal(below({ container: 'podman' }, 'podman-init', '500'), 'container', 'read-only: no file tells');
    assert.equal(below({}, 'podman-init', '500'), 'foreground');
    assert.equal(under('tini', ''), 'container', 'a kernel without the list of children');
    assert.equal(under('s6-svscan', '20 500'), 'container', 'it starts each of its children again');
    assert.equal(under('tini', '20 500'), 'foreground', 'a shell that has ended left it behind');
    const belowNpm = (comm: string, grandparent: string) =>
      restartOwner({
        supervised: false,
        pid: 500,
        ppid: 400,
        environment: { container: 'podman' },
        exists: () => false,
        read: (path) =>
          ({
            '/proc/1/comm': 'podman-init\n',
            '/proc/1/task/1/children': '400 ',
            '/proc/400/comm': `${comm}\n`,
            '/proc/400/status': `Name:\t${comm}\nPPid:\t${grandparent}\n`,
          })[path] ?? '',
      });
    assert.equal(belowNpm('npm start', '1'), 'container', 'a start of its own, below an init');
    assert.equal(belowNpm('npm start', '300'), 'foreground', 'a shell runs npm');
    assert.equal(belowNpm('bash', '1'), 'foreground');
    for (const other of ['sleep', 'sh', 'node', 'postgres', '']) assert.equal(under(other), 'foreground', other);
  });
});

describe('the state folder', () => {
  it('is made with 0700', (t) => {
    const path = join(folderOf(t), '.svc');

    ensureStateFolder(path);

    assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  it('may have the longest path below which a database opens, and no longer one (STATE-FOLDER-3)', (t) => {
    const folder = folderOf(t);
    const long = (bytes: number): string => {
      const rest = bytes - Buffer.byteLength(`${folder}//.svc`);
      const parts = Array.from({ length: Math.floor(rest / 100) }, () => 'd'.repeat(99));
      return join(folder, ...parts, 'e'.repeat(rest - 100 * parts.length), '.svc');
    };
    mkdirSync(dirname(long(470)), { recursive: true });

    ensureStateFolder(long(470));
    const database = new Sqlite(join(long(470), 'data.sqlite'));
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (two); BEGIN EXCLUSIVE; COMMIT');
    database.close();
    assert.throws(() => ensureStateFolder(long(471)), { code: 'state_dir_unsafe', message: /has 471 bytes; 470/ });
  });

  for (const mode of [0o755, 0o701, 0o770, 0o750]) {
    it(`is refused with mode ${mode.toString(8)} (STATE-FOLDER-1)`, (t) => {
      const path = join(folderOf(t), '.svc');
      mkdirSync(path);
      chmodSync(path, mode);

      assert.throws(() => ensureStateFolder(path), { code: 'state_dir_unsafe' });
    });
  }

  it('is refused when it is a link, a file or a stranger’s; root’s with our group is accepted (STATE-FOLDER-1, STATE-FOLDER-2)', (t) => {
    const folder = folderOf(t);
    const real = join(folder, 'real');
    mkdirSync(real, { mode: 0o700 });
    symlinkSync(real, join(folder, 'link'));
    writeFileSync(join(folder, 'file'), '');

    for (const name of ['link', 'file'])
      assert.throws(() => checkStateFolder(join(folder, name)), { code: 'state_dir_unsafe' });
    assert.equal(process.getuid?.() === 0 ? checkStateFolder(real, { uid: 4242 }).uid : 0, 0);
  });
});

describe('the state folder on a mount point', () => {
  // Folders of root that every machine has: /usr is 0755, /tmp is 1777.
  const pod = { uid: 4242, groups: [10_001, statSync('/usr').gid], parentDevice: -1 };

  it('may be listed by others where it is root’s with our group, and that is noted (STATE-FOLDER-1)', (t) => {
    const stat = checkStateFolder('/usr', pod);
    const path = join(folderOf(t), '.svc');

    assert.match(volumeNote('/usr', stat) ?? '', /\/usr is a mounted volume that others may list \(mode 755\)/);
    assert.equal(volumeNote(path, ensureStateFolder(path)), undefined);
  });

  for (const [what, path, change] of [
    ['of the file system above it', '/usr', { parentDevice: statSync('/usr').dev }],
    ['with a group of others', '/usr', { groups: [4242] }],
    ['into which others may write', '/tmp', { groups: [statSync('/tmp').gid] }],
  ] as const)
    it(`is refused as one ${what} (STATE-FOLDER-1)`, () => {
      assert.throws(() => checkStateFolder(path, { ...pod, ...change }), {
        code: 'state_dir_unsafe',
        message: /is open to others/,
      });
    });
});

describe('process identity', () => {
  it('is of no process here where the pid is of another container', () => {
    const identity = identify(process.pid);

    assert.ok(identity !== undefined);
    assert.equal(isElsewhere(identity), false);
    assert.equal(isAlive({ ...identity, namespace: 'pid:[1]' }), process.platform !== 'linux');
    assert.equal(isElsewhere({ namespace: 'pid:[1]' }), process.platform === 'linux');
  });

  it('knows this process, and not another one of its number', () => {
    const identity = identify(process.pid);

    assert.ok(identity !== undefined);
    assert.equal(isAlive(identity), true);
    assert.equal(isAlive({ ...identity, start: '1' }), false);
    assert.equal(isAlive({ ...identity, boot: `${bootId()}x` }), false);
    assert.equal(identify(2 ** 22 + 1), undefined);
  });
});

describe('a log line for people', () => {
  const paint = {
    good: (text: string) => text,
    bad: (text: string) => `!${text}`,
    warn: (text: string) => text,
    dim: (text: string) => text,
  };

  it('shows date and time, level, message and the other fields', () => {
    const line = JSON.stringify({
      level: 'error',
      time: '2026-01-31T12:00:00.123Z',
      project: 'p',
      runtimeId: 'r',
      n: 5,
      msg: 'it failed',
    });

    assert.equal(formatLogLine(line, paint), '2026-01-31T12:00:00.123Z !error it failed n=5');
  });

  it('obeys nothing that is in it', () => {
    const text = formatLogLine(JSON.stringify({ level: 'info', msg: '\u001b[2Jx', field: 'a\u202eb\nc' }), paint);

    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    assert.doesNotMatch(text, /[\u0000-\u0008\u000a-\u001f\u202e]/);
    assert.equal(formatLogLine('FATAL ERROR: \u001b[31mheap', paint), 'FATAL ERROR: \\u001b[31mheap');
  });

  it('compares levels', () => {
    assert.deepEqual(
      [isAtLeast('error', 'warn'), isAtLeast('info', 'warn'), isAtLeast(undefined, 'warn')],
      [true, false, true],
    );
  });
});

describe('a table', () => {
  it('has columns as wide as their widest cell, whatever their colour', () => {
    assert.equal(tableText(['a', 'b'], [['\u001b[31mlong\u001b[39m', 'x']]), 'a     b\n\u001b[31mlong\u001b[39m  x');
  });
});
