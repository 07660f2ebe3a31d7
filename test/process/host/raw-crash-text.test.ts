// What a worker prints past its logger, as Node does with its last words: the supervisor shows it with the exit and in the report, and a secret
// of the host that stands in it must not be shown with it.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { portProject, startSvc, supervisorStatus, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const random = (): string => `planted${randomBytes(16).toString('hex')}`;
/** As a private key comes: over several lines. */
const PEM_LINES = [1, 2, 3].map(() => randomBytes(48).toString('base64'));
const PEM = `-----BEGIN PRIVATE KEY-----\n${PEM_LINES.join('\n')}\n-----END PRIVATE KEY-----\n`;

/** Says its secrets on the descriptor itself, in several forms, and then does what the file `do` in the project names. */
const TALKS_RAW = `import { existsSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'raw', config: { keys: t.secret(), keyOfShell: t.secret(), pem: t.secret() }, setup(p) {
  const [one, two, pem] = ['keys', 'keyOfShell', 'pem'].map((name) => p.config[name].reveal());
  process.on('exit', () => console.error('leaving with', one, process.stderr.write('and with ' + two + '\\n')));
  const timer = setInterval(() => {
    if (existsSync('print')) { console.error('printed', one); process.stderr.write('written ' + two + '\\n'); }
    if (!existsSync('do') || readFileSync('do', 'utf8') === '') return;
    const what = readFileSync('do', 'utf8');
    rmSync('do');
    writeSync(2, 'FATAL ERROR: said with ' + one + ' and ' + two + '\\n');
    writeSync(2, Buffer.from(one).toString('base64') + ' ' + encodeURIComponent(pem) + '\\n' + pem);
    writeSync(2, 'the last raw line\\n');
    if (what === 'abort') process.kill(process.pid, 'SIGABRT');
    if (what === 'stop') process.kill(process.pid, 'SIGSTOP');
  }, 1);
  timer.unref();
} });
`;

const ofEnvFile = random();
const ofShell = random();
/** Whatever of them may be found; of the key its lines. */
const forbidden = (): readonly string[] => [
  ofEnvFile,
  ofShell,
  Buffer.from(ofEnvFile).toString('base64').replace(/=+$/, ''),
  ...PEM_LINES,
  ...PEM_LINES.map(encodeURIComponent),
];

async function rawHost(t: TestContext, supervisor: Readonly<Record<string, unknown>> = {}) {
  const project = await portProject(t, {
    keys: {
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
      plugins: {
        sandbox: {},
        raw: { use: './plugins/raw.mjs', keys: '${RAW_KEY}', keyOfShell: '${SHELL_KEY}', pem: '${RAW_PEM}' },
      },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
      supervisor,
    },
    env: { RAW_KEY: ofEnvFile },
    plugins: { 'raw.mjs': TALKS_RAW },
  });
  const run = (...words: string[]) =>
    svc(['runtime', ...words], { cwd: project.path, env: { SHELL_KEY: ofShell, RAW_PEM: PEM } });
  const started = await run('start', '--daemon', '--json');
  assert.equal(started.code, 0, started.stdout + started.stderr);
  return {
    project,
    run,
    does: (what: string) => writeFileSync(join(project.path, 'do'), what),
    /** Its status once the first worker has ended and the next one is there. */
    async replaced(): Promise<string> {
      await until(async () => [await supervisorStatus(project)].find(({ exits, ready }) => exits.length > 0 && ready), {
        what: 'the next worker',
      });
      return (await run('status', '--json')).stdout;
    },
  };
}

function assertWithout(shown: string, where: string): void {
  for (const secret of forbidden()) assert.equal(shown.includes(secret), false, `${secret} is in ${where}`);
}

describe('a secret in what a worker says past its logger', { concurrency: true }, () => {
  it('is not in the record of its end, the status of it, nor a file of the supervisor', async (t) => {
    const host = await rawHost(t);

    host.does('abort');
    const status = await host.replaced();

    const [end] = JSON.parse(status).exits;
    assert.equal(end.signal, 'SIGABRT');
    assert.equal(end.detail, 'FATAL ERROR: said with [secret] and [secret]');
    assert.equal(end.lastLines.at(-1), 'the last raw line');
    assertWithout(status, 'the status');
    assertWithout(host.project.read('.svc/supervisor.json'), 'the state file');
    assertWithout((await host.run('status')).stdout, 'the status for people');
    assert.match(host.project.read('.svc/runtime.log'), /^FATAL ERROR: said with \*{39} and \*{39}$/m);
    assertWithout(host.project.read('.svc/runtime.log'), 'the log');
    assertWithout((await host.run('logs')).stdout, 'the log as it is shown');
    await host.run('stop');
    assertWithout(host.project.read('.svc/supervisor.json'), 'the last state file');
  });

  it('is not in the report on a worker that was stopped after it, nor before that in what logs and logs -f show', async (t) => {
    const host = await rawHost(t, { watchdogSeconds: 5 });
    const follower = startSvc(['runtime', 'logs', '-f'], { cwd: host.project.path });
    t.after(() => void follower.child.kill('SIGKILL'));
    await until(() => follower.output().includes('supervisor running'), { what: 'the follower' });

    host.does('stop');
    await until(() => follower.output().includes('the last raw line'), { what: 'the raw lines' });
    const shown = await host.run('logs', '--json');
    const status = await host.replaced();

    assert.match(follower.output(), /^FATAL ERROR: said with \[secret\] and \[secret\]$/m);
    assertWithout(follower.output(), 'what is followed');
    assert.match(shown.stdout, /"the last raw line"/);
    assertWithout(shown.stdout, 'the log as it is shown');

    const folder = host.project.paths.reportsDir;
    const reports = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const report = reports.find((text) => text.includes('the last raw line')) ?? '';
    assert.match(JSON.parse(report).kernel.State, /^T/);
    assert.match(report, /FATAL ERROR: said with \[secret\] and \[secret\]/);
    for (const text of reports) assertWithout(text, 'a report');
    assertWithout(status, 'the status');
  });

  it('is masked in the log itself where it is printed, up to the very end', async (t) => {
    const host = await rawHost(t);
    host.project.write('print', '');
    const log = (): string => host.project.read('.svc/runtime.log');
    await until(() => log().includes('written [secret]'), { what: 'what is printed' });

    assert.equal((await host.run('stop')).code, 0);

    assert.match(log(), /"leaving with \[secret\] true"/);
    assert.match(log(), /"and with \[secret\]"/);
    assertWithout(log(), 'the log');
    for (const line of log().trimEnd().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
  });
});
