// For each check of `svc doctor` what makes it say `warn` or `error`. A check without an entry fails the build: test/rules/doctor.test.ts.
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, truncateSync, utimesSync } from 'node:fs';
import { createServer as createHttp, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { writeRelease } from '../../../shared/recovery/release-record.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { isContained } from '../../../supervisor/cli/doctor/state-checks.ts';
import { userServiceName } from '../../../supervisor/cli/service/names.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { LoopDisk, loopDiskMissing } from '../disk/loop-disk.ts';
import { freePort } from '../free-port.ts';
import { releaseRecord } from '../recovery/release-record.ts';
import { startSvc, svc, untilReady } from '../svc-command.ts';
import type { TemporaryProject } from '../temporary-project.ts';
import { until } from '../until.ts';

type Project = TemporaryProject & { readonly port: number };

/** What the command has to be given besides. */
export interface Broken {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

type Breaks = (project: Project, t: TestContext) => void | Broken | Promise<void | Broken>;

/** A project in which no check finds anything. */
export const good = (project: Project): void => {
  project.write(
    'package.json',
    JSON.stringify({
      name: 'test-project',
      version: '1.0.0',
      scripts: { build: 'true', start: 'exec svc runtime start' },
    }),
  );
};

/** What makes a check say `warn` or `error`. */
export const FIXTURES: Readonly<Record<string, Breaks>> = {
  'node.version': ({ write }) => write('package.json', JSON.stringify({ engines: { node: '>=99.0.0' }, scripts: {} })),
  'node.modules': () => {},
  'package.scripts': ({ write }) =>
    write('package.json', JSON.stringify({ scripts: { build: 'true', start: 'svc runtime start' } })),
  'package.lockfile': ({ paths }) => rmSync(paths.lockfile),
  'config.valid': ({ write }) => write('svc.config.yml', 'http:\n  prot: 1\n'),
  'env.rights': ({ paths }) => chmodSync(paths.env, 0o640),
  'files.rights': ({ paths }) => chmodSync(paths.config, 0o666),
  'env.format': ({ write, token, paths }) => {
    write('.env', `HTTP_TOKEN=${token}\nOTHER="quoted value"\n`);
    chmodSync(paths.env, 0o600);
  },
  'token.strength': ({ write, paths }) => {
    write('.env', 'HTTP_TOKEN=short-token-1\n');
    chmodSync(paths.env, 0o600);
  },
  'package.svc': ({ write }) =>
    write('package.json', JSON.stringify({ scripts: {}, dependencies: { svc: 'file:../svc' } })),
  'plugins.found': ({ write, port }) =>
    write('svc.config.yml', `http:\n  port: ${port}\n  token: \${HTTP_TOKEN}\nplugins:\n  remnd: {}\n`),
  'build.current': ({ path, write, port }) => {
    write('dist/plugins/own.js', '');
    write('plugins/own.ts', '');
    utimesSync(`${path}/dist/plugins/own.js`, 1_000_000, 1_000_000);
    const own = 'plugins:\n  own: {use: ./plugins/own}\n';
    write('svc.config.yml', `http:\n  port: ${port}\n  token: \${HTTP_TOKEN}\n${own}`);
  },
  'http.port': async ({ port }, t) => {
    const server = createServer().listen(port, '127.0.0.1');
    t.after(() => server.close());
    await until(() => server.listening, { what: 'the stranger to listen' });
  },
  'http.bind': ({ write, port }) =>
    write('svc.config.yml', `http:\n  host: 0.0.0.0\n  port: ${port}\n  token: \${HTTP_TOKEN}\n`),
  // So small a disk is made with blocks of 1,024 bytes, of which SQLite takes room only one a page.
  'state.filesystem': ({ paths }, t) => void new LoopDisk(t, paths.stateDir),
  'state.folder': ({ write, paths }) => {
    write('.svc/x', '');
    chmodSync(paths.stateDir, 0o755);
  },
  'state.space': ({ write, port }) =>
    write(
      'svc.config.yml',
      `http:\n  port: ${port}\n  token: \${HTTP_TOKEN}\ndisk:\n  minFreeBytes: ${15 * 1024 ** 4}\n`,
    ),
  'database.integrity': ({ write, paths }) => {
    write('.svc/data.sqlite', 'this is no database, and never was one. '.repeat(200));
    chmodSync(paths.stateDir, 0o700);
  },
  'database.schema': ({ write, paths }) => {
    write('.svc/data.sqlite', '');
    chmodSync(paths.stateDir, 0o700);
    const database = new Sqlite(paths.database);
    migrate(database, 0);
    database.prepare("INSERT INTO migrations VALUES (999, '0999-later', 1, 'x', 0)").run();
    database.close();
  },
  'items.dead': ({ write, paths }) => {
    write('.svc/data.sqlite', '');
    chmodSync(paths.stateDir, 0o700);
    const database = new Sqlite(paths.database);
    migrate(database, 0);
    database
      .prepare(
        `INSERT INTO inbox (id, endpoint, delivery_id, kind, lane, payload_version, sha256, bytes, received_at, state, done_at)
         VALUES ('a', 'root/irc:irc', 'd', 'arrival', 'l', 1, '', 0, 0, 'dead', 0)`,
      )
      .run();
    database.close();
  },
  'owner.single': async (project, t) => {
    const run = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
    t.after(() => run.child.kill('SIGKILL'));
    await untilReady(`http://127.0.0.1:${project.port}`);
    rmSync(`${project.path}/.svc/worker.sock`);
    run.child.kill('SIGSTOP');
  },
  'runtime.ready': async (project, t) => {
    project.write('plugins/own.js', 'syntax error(');
    project.write(
      'svc.config.yml',
      `http:\n  port: ${project.port}\n  token: \${HTTP_TOKEN}\nplugins:\n  own:\n    use: ./plugins/own.js\n`,
    );
    const run = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
    t.after(() => run.child.kill('SIGKILL'));
    await until(async () => /cannot be loaded/.test((await svc(['runtime', 'status'], { cwd: project.path })).stdout), {
      what: 'a host that is up and not ready',
    });
  },
  'runtime.endpoints': async (project, t) => {
    const nobody = await freePort();
    project.write(
      'svc.config.yml',
      `http:\n  port: ${project.port}\n  token: \${HTTP_TOKEN}\nplugins:\n  irc:\n    endpoints:\n      - {id: net, server: 127.0.0.1, port: ${nobody}, tls: false, nick: svc}\n`,
    );
    const run = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
    t.after(() => run.child.kill('SIGKILL'));
    await until(async () => /offline/.test((await svc(['endpoints', 'list'], { cwd: project.path })).stdout), {
      what: 'an account that has found nobody',
    });
  },
  'jobs.file': ({ write }) => write('data/schedule-jobs.json', '{ "version": 1, "jobs": [{}] }'),
  'jobs.targets': ({ write }) =>
    write(
      'data/schedule-jobs.json',
      JSON.stringify({
        version: 1,
        jobs: [{ id: 'a', every: '1h', do: { say: { to: { endpoint: 'irc~gone', conversation: '#a' }, text: 'a' } } }],
      }),
    ),
  'checkpoint.age': (project) => oldCheckpoint(project),
  'checkpoint.verified': (project) => oldCheckpoint(project),
  'checkpoint.place': (project) => oldCheckpoint(project),
  'switch.pending': ({ write, paths }) => {
    write('.svc/switch.json', '{"format":"svc.switch/1","purpose":"restore","names":{},"renames":[],"leftovers":[]}');
    chmodSync(paths.stateDir, 0o700);
  },
  'release.open': (project) => oldRelease(project),
  'deploy.current': ({ write }) =>
    write(
      'deploy/systemd/svc@.socket',
      '# svc 0.0.1, deploy/systemd/svc@.socket 000000000000: svc deploy init writes it\n',
    ),
  // A file of 8 EiB without blocks: no disk has room for a copy of it.
  'checkpoint.room': ({ write, paths }) => {
    write('.svc/data.sqlite', '');
    chmodSync(paths.stateDir, 0o700);
    for (const bytes of [2 ** 62, 2 ** 50, 2 ** 43]) if (isCutTo(paths.database, bytes)) return;
  },
  'machine.clock': ({ write, paths }) => {
    write('.svc/worker.json', '{}');
    chmodSync(paths.stateDir, 0o700);
    const later = Date.now() / 1_000 + 3_600;
    utimesSync(paths.workerRecord, later, later);
  },
  'env.proxy': () => ({ env: { https_proxy: 'http://127.0.0.1:9' } }),
  'package.committed': ({ path }) => {
    execFileSync('git', ['init', '-q', path]);
  },
  'service.current': ({ path, write }) => {
    const name = userServiceName(path);
    write(`.config/systemd/user/${name}.service`, '[Service]\nRestartSec=9\n');
    return { env: { HOME: path } };
  },
  'edge.auth': (_project, t) => proxy(t, ({ response }) => void response.writeHead(401).end('{}')),
  'edge.body': (_project, t) => proxy(t, ({ response }) => void response.end('{"bytes":1,"sha256":"of another body"}')),
  'edge.stream': (_project, t) =>
    proxy(t, ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.flushHeaders(); // and not an event: they are kept back
    }),
  'edge.websocket': (_project, t) => proxy(t, ({ response }) => void response.writeHead(400).end()),
  'edge.forwarded': (_project, t) => proxy(t, ({ response }) => void response.end('{"address":"192.0.2.77"}')),
  'edge.idle': async (_project, t) => {
    const { args = [] } = await proxy(t, ({ response }) => void response.end('event: svc.hello\ndata: {}\n\n'));
    return { args: [...args, '--idle', '1'] };
  },
  'edge.cache': (_project, t) => proxy(t, ({ response }) => void response.writeHead(200, { age: '17' }).end('{}')),
  'edge.clock': (_project, t) =>
    proxy(t, ({ response }) => void response.writeHead(200, { date: 'Thu, 01 Jan 2026 00:00:00 GMT' }).end('{}')),
};

/** Whether the file system takes a file of so many bytes. */
function isCutTo(file: string, bytes: number): boolean {
  try {
    truncateSync(file, bytes);
    return true;
  } catch {
    return false;
  }
}

/** Begun years ago, and never ended. */
function oldRelease({ path, paths }: Project): void {
  writeRelease(path, releaseRecord({ steps: ['begun', 'checked'], begunAt: Date.parse('2020-01-01T00:00:00Z') }));
  chmodSync(paths.stateDir, 0o700);
}

/** Made years ago, and never proven. */
function oldCheckpoint({ write, paths }: Project): void {
  const manifest = { format: 'svc.checkpoint/1', name: 'c1', createdAt: '2020-01-01T00:00:00.000Z', parts: [] };
  write('.svc/checkpoints/c1/manifest.json', JSON.stringify(manifest));
  write('.svc/data.sqlite', '');
  chmodSync(paths.stateDir, 0o700);
}

/** A proxy that does not leave alone what it should. */
async function proxy(
  t: TestContext,
  answer: (exchange: { readonly response: ServerResponse }) => void,
): Promise<Broken> {
  const server = createHttp((request, response) => {
    request.resume();
    answer({ response });
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await until(() => server.listening, { what: 'the proxy' });
  return { args: ['--edge', `http://127.0.0.1:${(server.address() as AddressInfo).port}`] };
}

/** Why a fixture cannot be made here; false where it can. Its judgement is tested besides, of what cannot be made anywhere (a network). */
export const CANNOT_BE_MADE: Readonly<Record<string, () => string | false>> = {
  'state.filesystem': loopDiskMissing,
  'node.modules': () => 'this process has the module loaded',
  'http.bind': () => isContained() && 'in a container every address is right',
};
