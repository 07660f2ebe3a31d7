// Whether a container runs here at all: the Compose file that svc writes, with an image of a few files in the place of a project's.
// Namespaces may be granted where overlays, rules of the network or the mounts of a container are not.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../shared/svc-error.ts';
import { template } from '../../../supervisor/cli/deploy/template.ts';
import { fill } from '../../../supervisor/cli/service/render.ts';
import { type Engine, engineMissing, startEngine } from './engine.ts';

const NAME = 'svc-probe';
/** In the line of a skipped test. */
const LONGEST_REASON = 300;

const LIMIT_MS = 180_000;

/** Why no container can be run here; false where one was. With SVC_REQUIRE_CONTAINERS=1 somebody has tried before, and programs have to be there. */
export async function containersMissing(): Promise<string | false> {
  const missing = engineMissing();
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_CONTAINERS'] === '1') {
    if (missing === false) return false;
    throw new Error(`SVC_REQUIRE_CONTAINERS=1, but ${missing}`);
  }
  if (missing !== false) return missing;
  const folder = mkdtempSync(join(tmpdir(), 'svc-probe-'));
  try {
    const engine = await startEngine(join(folder, 'engine'));
    // With the namespaces each command in them ends.
    const limit = setTimeout(() => void engine.end(), LIMIT_MS);
    try {
      await tryContainer(engine, join(folder, 'project'));
    } finally {
      clearTimeout(limit);
      await engine.end();
    }
    return false;
  } catch (error) {
    return `no container runs here: ${messageOf(error).replaceAll(/\s+/gu, ' ').slice(-LONGEST_REASON)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws with what was refused. */
async function tryContainer(engine: Engine, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const file of busyboxFiles()) {
    mkdirSync(dirname(join(folder, 'tree', file)), { recursive: true });
    cpSync(file, join(folder, 'tree', file), { dereference: true });
  }
  const write = (name: string, ...lines: readonly string[]): void =>
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  const values = { NAME, TOKEN: 'HTTP_TOKEN', PORT: '8068', STOP_SECONDS: '20' };
  write('compose.yml', fill(template('compose/compose.yml'), values));
  write('.env', 'HTTP_TOKEN=of-a-probe');
  write(
    'Dockerfile',
    'FROM localhost/probe:base',
    `RUN ["${BUSYBOX}", "mkdir", "-p", "/app/.svc", "/app/data", "/bin", "/tmp"]`,
    `RUN ["${BUSYBOX}", "ln", "-sf", "${BUSYBOX}", "/bin/sh"]`,
    `RUN echo works >/app/index.html && ${BUSYBOX} chown 10001:10001 /app/.svc /app/data`,
    'USER 10001:10001',
    `CMD ["${BUSYBOX}", "httpd", "-f", "-p", "8068", "-h", "/app"]`,
  );
  const must = (line: string): Promise<string> => engine.must(line, { cwd: folder });
  await must('tar -cf probe.tar -C tree . && podman import probe.tar localhost/probe:base');
  await must('buildah bud --quiet --format docker -t localhost/probe:buildah .');
  await must('docker compose build');
  await must('docker compose up -d');
  // Each of the tries ends at once or is answered: the container listens as soon as it runs.
  const asked = `for n in $(seq 100); do ${BUSYBOX} wget -qO- http://127.0.0.1:8068/index.html && exit; sleep 0.1; done; podman logs ${NAME}; exit 1`;
  if ((await must(asked)) !== 'works') throw new Error('another answer at the published port');
  await must(`podman exec ${NAME} ${BUSYBOX} touch /app/.svc/a /app/data/a /tmp/a`);
  await must(`podman stop --time 1 ${NAME}`);
}

/** Debian has its folders of programs in one. */
const BUSYBOX = '/usr/bin/busybox';

/** The program and what it is linked to; nothing, where it has all in itself. */
function busyboxFiles(): readonly string[] {
  const { stdout } = spawnSync('ldd', [BUSYBOX], { encoding: 'utf8' });
  return [BUSYBOX, ...[...(stdout ?? '').matchAll(/(?:^|\s)(\/\S+)/gu)].map(([, path = '']) => path)];
}
