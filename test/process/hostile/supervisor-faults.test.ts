// Faults of folder, log, record, sockets and disk under a running daemon, each with its worker killed meanwhile. The supervisor learns of that end,
// `restart` and `stop` end whatever the fault is, and once it is gone the host is ready by itself.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { limitFiles } from '../../support/disk/limit-files.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { fillDisk, type SmallDisk, smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { freePort } from '../../support/free-port.ts';
import { OTHER_USER, otherUserMissing } from '../../support/owners/other-user.ts';
import { lives, type Supervised, startSupervisor } from '../../support/process/supervised.ts';
import { svc } from '../../support/svc-command.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const built = (name: string): string => fileURLToPath(new URL(`../../../dist/${name}`, import.meta.url));
/** Rights are for users that are not root. */
const missing = smallDiskMissing() || otherUserMissing();
const SIDE_BY_SIDE = 6;

interface Host extends Supervised {
  /** A path below `.svc`. */
  readonly at: (name: string) => string;
}

interface Fault {
  readonly name: string;
  /** Before the start. */
  readonly prepare?: (t: Cleanup, stateDir: string) => void;
  readonly begin: (host: Host) => void;
  readonly end: (host: Host) => void;
  /** Default OTHER_USER. */
  readonly user?: number;
  /** The supervisor ends by itself: its state is gone. */
  readonly stops?: true;
  /** Said once it is over. */
  readonly said?: RegExp;
}

const run = (program: string, ...args: readonly string[]): void => void execFileSync(program, args, { stdio: 'pipe' });
const tryTo = (work: () => void): void => {
  try {
    work();
  } catch {
    // it is not there
  }
};
const own = (path: string): void => run('chown', '-h', `${OTHER_USER}:${OTHER_USER}`, path);

const THINGS = {
  'a directory': (path) => {
    mkdirSync(path);
    writeFileSync(join(path, 'file'), '');
  },
  'a FIFO': (path) => run('mkfifo', '-m', '600', path),
  garbage: (path) => writeFileSync(path, '{"version":1,"state":', { mode: 0o600 }),
  'a link to nowhere': (path) => symlinkSync('/nonexistent/file', path),
} satisfies Readonly<Record<string, (path: string) => void>>;

/** Over what is there, which the host may make anew at any moment. */
function rename(from: string, to: string): void {
  for (let tries = 0; ; tries += 1) {
    removeLive(to);
    try {
      return renameSync(from, to);
    } catch (error) {
      if (tries === 100) throw error;
    }
  }
}

/** Something else lies under the name of a file of `.svc`; once that is gone the host makes its own. */
const replaced = (name: string, by: keyof typeof THINGS, more: Partial<Fault> = {}): Fault => ({
  name: `${name} is ${by}`,
  begin: ({ at }) => {
    THINGS[by](at(`${name}-thing`));
    own(at(`${name}-thing`));
    rename(at(`${name}-thing`), at(name));
  },
  end: ({ at }) => tryTo(() => removeLive(at(name))),
  ...more,
});

const removed = (name: string): Fault => ({
  name: `${name} is removed`,
  begin: ({ at }) => removeLive(at(name)),
  end: () => {},
});

/** The folder is mounted over itself, for reading alone: EROFS, as on a disk that has failed. */
const READ_ONLY: Pick<Fault, 'begin' | 'end'> = {
  begin: ({ project: { paths } }) => mountReadOnly(paths.stateDir),
  end: ({ project: { paths } }) => run('umount', '-l', paths.stateDir),
};

/** Over itself. Made elsewhere first: the kernel makes no mount read-only in which a host has opened a file for writing. */
function mountReadOnly(folder: string): void {
  const elsewhere = `${folder}-elsewhere`;
  mkdirSync(elsewhere);
  run('mount', '--bind', folder, elsewhere);
  run('mount', '-o', 'remount,bind,ro', elsewhere);
  run('mount', '--bind', elsewhere, folder);
  run('umount', elsewhere);
  rmdirSync(elsewhere);
}

const onSmallDisk =
  (disk: SmallDisk): NonNullable<Fault['prepare']> =>
  (t, stateDir) =>
    smallDisk(t, stateDir, disk);

const FAULTS: readonly Fault[] = [
  {
    name: '.svc is removed',
    begin: ({ at }) => removeLive(at('.')),
    end: () => {},
    stops: true,
  },
  {
    name: '.svc is renamed away',
    begin: ({ project: { paths } }) => renameSync(paths.stateDir, `${paths.stateDir}-elsewhere`),
    end: () => {},
    stops: true,
  },
  {
    name: '.svc is replaced by a file',
    begin: ({ project: { paths } }) => {
      renameSync(paths.stateDir, `${paths.stateDir}-elsewhere`);
      writeFileSync(paths.stateDir, '');
    },
    end: ({ project: { paths } }) => tryTo(() => rmSync(paths.stateDir)),
    stops: true,
  },
  {
    name: '.svc cannot be entered by its owner',
    begin: ({ project: { paths } }) => chmodSync(paths.stateDir, 0o000),
    end: ({ project: { paths } }) => chmodSync(paths.stateDir, 0o700),
  },
  {
    name: '.svc cannot be written by its owner',
    begin: ({ project: { paths } }) => chmodSync(paths.stateDir, 0o500),
    end: ({ project: { paths } }) => chmodSync(paths.stateDir, 0o700),
  },
  { name: '.svc is read-only', ...READ_ONLY },
  {
    name: '.svc is read-only after a rotation of the log',
    begin: (host) => {
      for (const name of ['runtime.log.held', 'runtime.log.rotated']) {
        writeFileSync(host.at(name), 'held for the worker\n', { mode: 0o600 });
        own(host.at(name));
      }
      READ_ONLY.begin(host);
    },
    end: READ_ONLY.end,
    said: /could not tidy its log after a worker/,
  },
  {
    name: '.svc is immutable',
    begin: ({ project: { paths } }) => run('chattr', '+i', paths.stateDir),
    end: ({ project: { paths } }) => run('chattr', '-i', paths.stateDir),
  },
  removed('runtime.log'),
  replaced('runtime.log', 'a directory', { said: /log lines came late/ }),
  replaced('runtime.log', 'a FIFO', { said: /log lines came late/ }),
  replaced('runtime.log', 'a link to nowhere', { said: /log lines came late/ }),
  {
    ...replaced('runtime.log.1', 'a directory'),
    name: 'runtime.log cannot be rotated: runtime.log.1 is a directory',
    prepare: (_, stateDir) => writeFileSync(join(stateDir, 'runtime.log'), `${'x'.repeat(65_000)}\n`, { mode: 0o600 }),
  },
  replaced('reports', 'garbage'),
  removed('supervisor.json'),
  replaced('supervisor.json', 'a directory'),
  replaced('supervisor.json', 'a FIFO'),
  replaced('supervisor.json', 'garbage'),
  replaced('restart-window.json', 'a directory'),
  replaced('worker.json', 'a FIFO'),
  replaced('worker.json', 'a directory'),
  removed('control.sock'),
  replaced('control.sock', 'garbage'),
  replaced('control.sock', 'a directory'),
  removed('worker.sock'),
  replaced('worker.sock', 'a directory'),
  {
    name: 'the disk is full',
    prepare: onSmallDisk({ kilobytes: 32 * 1_024 }),
    begin: ({ at }) => fillDisk(at('filler')),
    end: ({ at }) => rmSync(at('filler')),
  },
  {
    name: 'the disk has no inodes',
    prepare: onSmallDisk({ kilobytes: 64 * 1_024, inodes: 64 }),
    begin: ({ at }) => {
      mkdirSync(at('fillers'));
      tryTo(() => {
        for (let n = 0; n < 64; n += 1) writeFileSync(join(at('fillers'), String(n)), '');
      });
    },
    end: ({ at }) => rmSync(at('fillers'), { recursive: true }),
  },
  {
    name: 'the supervisor can open no more files',
    begin: (host) => limitFiles(host, 3),
    end: (host) => limitFiles(host, 1_024),
    user: 0, // a limit is changed by its own user alone
    said: /EMFILE: the supervisor has too many files open: raise .ulimit -n., or LimitNOFILE=/,
  },
];

async function start(t: Cleanup, { prepare, user = OTHER_USER }: Fault): Promise<Host> {
  const project = temporaryProject(t, {
    config: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      http: { port: await freePort(), token: '${HTTP_TOKEN}' },
      plugins: { sandbox: {} },
      disk: { minFreeBytes: 0 },
      supervisor: { restarts: 100, stopTimeoutSeconds: 3, log: { maxBytes: 65_536 } },
    },
    prefix: 'svc-hostile-',
  });
  const { stateDir } = project.paths;
  mkdirSync(stateDir, { mode: 0o700 });
  prepare?.(t, stateDir);
  const supervised = startSupervisor(t, {
    supervisor: built('supervisor.cjs'),
    worker: built('worker.js'),
    project,
    settings: { delaysMs: [0, 300, 600] },
    user,
  });
  const host = { ...supervised, at: (name: string): string => join(stateDir, name) };
  await isReady(host);
  return host;
}

const isReady = (host: Host, before = ''): Promise<unknown> =>
  until(async () => (await host.status()).ready, { what: 'a ready host' }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${before}\n${host.log().split('\n').slice(-12).join('\n')}`, { cause: error });
  });

/** What the machine of the supervisor has taken in of the end of this run: asked of the trace, which no fault reaches. */
const hasTakenIn = (host: Host, run: number): boolean =>
  host.trace().some(({ event }) => event.kind === 'exited' && event.run === run);

const lastState = (host: Host): string | undefined => host.trace().at(-1)?.after.state.kind;

const command = (
  { project }: Host,
  { user = OTHER_USER }: Fault,
  ...words: readonly string[]
): ReturnType<typeof svc> => svc(['runtime', ...words], { cwd: project.path, user });

describe('a fault under a daemon', { skip: missing, concurrency: SIDE_BY_SIDE }, () => {
  for (const fault of FAULTS) {
    it(`costs no end of a worker, no restart and no stop: ${fault.name}`, async (t) => {
      const host = await start(t, fault);
      t.after(() => tryTo(() => fault.end(host)));
      const { pid } = await host.status();

      fault.begin(host);
      process.kill(pid ?? 0, 'SIGKILL');
      if (fault.stops === true) {
        assert.deepEqual(await host.ended, { code: 0, signal: null });
        assert.equal(lastState(host), 'stopped');
        return;
      }
      await until(() => hasTakenIn(host, 1), { what: 'the end of the worker to be taken in' });
      const restarted = await command(host, fault, 'restart', '--timeout', '1');
      fault.end(host);
      await isReady(host, restarted.stderr);
      if (fault.said !== undefined)
        await until(() => fault.said?.test(host.log()), { what: 'what was lost to be told' });

      fault.begin(host);
      const stopped = await command(host, fault, 'stop');
      assert.deepEqual([stopped.code, lives(host.child.pid ?? 0)], [0, false], stopped.stdout + stopped.stderr);
      assert.equal((await host.ended).code, 0, stopped.stderr);
    });
  }
});
