// What a worker knows of its owner: the window that it keeps for one without a limit, and the owner's own command for a stop.
import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { identify, isAlive } from '../../../shared/process/process-identity.ts';
import type { RestartOwner } from '../../../worker/database/writer-lock.ts';
import { OwnerWindow, type WindowVerdict } from '../../../worker/process/owner/owner-window.ts';
import { ownerStop } from '../../../worker/process/owner/restart-owner.ts';
import { ServiceLog } from '../../../worker/process/service-log.ts';
import { untilUp } from '../../../worker/process/start-progress.ts';

const LIMITS = { restarts: 5, windowSeconds: 120 };

interface Starts {
  readonly restartWindow: string;
  /** One more start at a moment. */
  start(at: number): { readonly window: OwnerWindow; readonly verdict: WindowVerdict };
}

function startsUnder(t: TestContext, owner: RestartOwner): Starts {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-window-'));
  t.after(() => rmSync(stateDir, { recursive: true, force: true }));
  const paths = { stateDir, restartWindow: join(stateDir, 'restart-window.json') };
  return {
    restartWindow: paths.restartWindow,
    start(at) {
      const window = new OwnerWindow({ paths, owner, now: () => at });
      window.note();
      return { window, verdict: window.verdict(LIMITS) };
    },
  };
}

describe('OwnerWindow', () => {
  it('lets five starts pass under launchd and ends the sixth (OWNERWINDOW-1)', (t) => {
    const { start } = startsUnder(t, 'launchd');

    assert.deepEqual(
      [0, 10_000, 20_000, 30_000, 40_000, 50_000].map((at) => start(at).verdict.kind),
      ['room', 'room', 'room', 'room', 'room', 'spent'],
    );
  });

  it('has room again when the oldest start is exactly as old as the window', (t) => {
    const { start } = startsUnder(t, 'launchd');
    for (const at of [0, 1_000, 2_000, 3_000, 4_000]) start(at);

    assert.equal(start(120_000).verdict.kind, 'room');
  });

  it('waits in a container until the oldest start has left (OWNERWINDOW-2)', (t) => {
    const { start } = startsUnder(t, 'container');
    for (const at of [0, 1_000, 2_000, 3_000, 4_000]) start(at);

    assert.deepEqual(start(5_000).verdict, { kind: 'wait', starts: 6, ms: 115_000 });
  });

  it('is empty after a stop that somebody asked for (OWNERWINDOW-3)', (t) => {
    const { start, restartWindow } = startsUnder(t, 'launchd');
    for (const at of [0, 1, 2, 3]) start(at);

    start(4).window.empty();

    assert.equal(existsSync(restartWindow), false);
    assert.equal(start(5).verdict.kind, 'room');
  });

  it('is not counted in a container beside a host that has the state: the window is that host’s (OWNERWINDOW-2)', (t) => {
    const { start, restartWindow } = startsUnder(t, 'container');
    for (const at of [0, 1, 2, 3]) start(at);
    const before = readFileSync(restartWindow, 'utf8');
    const paths = { stateDir: dirname(restartWindow), restartWindow };

    for (let at = 4; at < 20; at += 1) {
      const window = new OwnerWindow({ paths, owner: 'container', now: () => at, isTaken: () => true });
      window.note();
      assert.equal(window.verdict(LIMITS).kind, 'room');
      window.empty();
    }

    assert.equal(readFileSync(restartWindow, 'utf8'), before);
  });

  it('keeps none for owners that have a limit of their own (OWNERWINDOW-3)', (t) => {
    for (const owner of ['systemd', 'daemon', 'pm2', 'foreground'] as const) {
      const { start, restartWindow } = startsUnder(t, owner);
      for (let at = 0; at < 20; at += 1) assert.equal(start(at).verdict.kind, 'room', owner);
      assert.equal(existsSync(restartWindow), false, owner);
    }
  });

  it('begins anew where the file is cut, of another boot, or of another form', (t) => {
    const { start, restartWindow } = startsUnder(t, 'launchd');
    for (let at = 0; at < 5; at += 1) start(at);
    const kept = readFileSync(restartWindow, 'utf8');

    for (const text of ['', kept.slice(0, 20), kept.replace(/"boot": ".*"/, '"boot": "another"'), '[]', 'null']) {
      writeFileSync(restartWindow, text);
      assert.equal(start(6).verdict.kind, 'room', text);
    }
    writeFileSync(restartWindow, kept);
    assert.equal(start(6).verdict.kind, 'spent');
  });
});

describe('ownerStop', () => {
  const stop = (
    owner: RestartOwner,
    { environment = {}, cgroup = '' }: { environment?: Record<string, string>; cgroup?: string } = {},
  ): string => ownerStop({ owner, environment, cgroup: () => cgroup, hostname: '1a2b3c' });

  it('names the unit by its control group, of the system and of a user', () => {
    assert.equal(
      stop('systemd', { cgroup: '0::/system.slice/system-svc.slice/svc@alice.service\n' }),
      'systemctl stop svc@alice.service',
    );
    assert.equal(
      stop('systemd', {
        cgroup: '0::/user.slice/user-1000.slice/user@1000.service/app.slice/svc-bot-012345.service\n',
      }),
      'systemctl --user stop svc-bot-012345.service',
    );
    assert.equal(
      stop('systemd', { cgroup: '5:pids:/x\n1:name=systemd:/system.slice/svc@alice.service\n0::/x' }),
      'systemctl stop svc@alice.service',
    );
    assert.equal(stop('systemd'), 'systemctl stop <unit>');
  });

  it('stops the socket with the service where that was handed down: it would start it again', () => {
    assert.equal(
      stop('systemd', { cgroup: '0::/system.slice/svc@alice.service', environment: { LISTEN_FDS: '1' } }),
      'systemctl stop svc@alice.socket svc@alice.service',
    );
  });

  it('names label, app, container and workload', () => {
    assert.match(
      stop('launchd', { environment: { XPC_SERVICE_NAME: 'io.svc.bot-012345' } }),
      /^launchctl bootout gui\/\d+\/io\.svc\.bot-012345$/,
    );
    assert.equal(stop('pm2', { environment: { pm_id: '3', name: 'bot' } }), 'pm2 stop bot');
    assert.match(stop('container'), /docker stop 1a2b3c/);
    assert.match(stop('container', { environment: { KUBERNETES_SERVICE_HOST: 'x' } }), /kubectl scale/);
  });
});

describe('isAlive', () => {
  it('goes by pid and start time alone where a hardened unit hides the boot', () => {
    const own = identify(process.pid);
    assert.ok(own !== undefined);

    assert.equal(isAlive({ ...own, boot: 'unknown' }), true);
    assert.equal(isAlive({ ...own, boot: 'another' }), false);
    assert.equal(isAlive({ ...own, boot: 'unknown', start: '1' }), false);
  });
});

describe('ServiceLog', () => {
  const limits = { maxBytes: 1_000, maxFiles: 3 };
  const log = { warn: () => assert.fail('nothing to complain of') };

  /** A log that its owner has opened for appending, as launchd does. */
  function ownersFile(t: TestContext): { readonly file: string; readonly stdout: number } {
    const folder = mkdtempSync(join(tmpdir(), 'svc-service-log-'));
    const file = join(folder, 'service.log');
    const stdout = openSync(file, 'a');
    t.after(() => {
      closeSync(stdout);
      rmSync(folder, { recursive: true, force: true });
    });
    return { file, stdout };
  }

  it('keeps the file and its copies within their limits, and loses no line that is kept (SERVICELOG-2)', (t) => {
    const { file, stdout } = ownersFile(t);
    const kept = new ServiceLog({ file, stdout, log });

    for (let n = 1; n <= 5; n += 1) {
      writeSync(stdout, `${String(n).repeat(1_200)}\n`);
      kept.look(limits);
    }
    writeSync(stdout, 'the newest\n');

    const first = (end: string): string => readFileSync(file + end, 'utf8').slice(0, 3);
    assert.equal(readFileSync(file, 'utf8'), 'the newest\n');
    assert.deepEqual([first('.1'), first('.2'), existsSync(`${file}.3`)], ['555', '444', false]);
  });

  it('leaves a file alone that is within its limit, or is not where stdout goes (SERVICELOG-1)', (t) => {
    const { file, stdout } = ownersFile(t);
    const other = ownersFile(t);
    writeSync(stdout, 'x'.repeat(900));
    new ServiceLog({ file, stdout, log }).look(limits);
    writeSync(stdout, 'x'.repeat(900));

    new ServiceLog({ file, stdout: other.stdout, log }).keep(limits);

    assert.equal(readFileSync(file, 'utf8').length, 1_800);
    const kept = new ServiceLog({ file, stdout, log });
    kept.keep(limits);
    kept.close();
    assert.equal(readFileSync(file, 'utf8').length, 0);
  });
});

describe('a start whose database takes long to open', () => {
  it('is said to go on while the files of the database change, to supervisor and owner (PROGRESS-1)', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-progress-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'data.sqlite');
    let written = 0;
    const work = setInterval(() => writeFileSync(`${file}-wal`, String((written += 1))), 50);
    t.after(() => clearInterval(work));
    const told: string[] = [];
    let isUp = (): void => {};
    const app = {
      up: new Promise<void>((resolve) => {
        isUp = resolve;
      }),
      isOpening: () => true,
    };

    await untilUp(app, {
      file,
      link: { send: (message) => told.push(message.type) > 0 },
      owned: {
        goesOn: (what) => {
          told.push(what);
          isUp();
        },
      },
    });

    assert.deepEqual(told, ['progress', 'the database is being opened']);
  });
});
