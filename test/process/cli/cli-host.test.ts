// The commands that ask the running host over HTTP, as processes: they find address and token by themselves, and say what is wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { startHost, type TestHost } from '../../../worker/testing/host.ts';
import { CLI, type Ended, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

/** Runs a command in the host's project, with the variables of its configuration. */
function asked(host: TestHost, ...args: readonly string[]): Promise<Ended> {
  return svc(args, { cwd: host.project, env: { SVC_TEST_PORT: new URL(host.url).port } });
}

async function json(host: TestHost, ...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await asked(host, ...args, '--json');
  assert.equal(code, 0, stdout + stderr);
  return JSON.parse(stdout);
}

describe('svc at a running host', () => {
  it('chats, lists, pauses, disables and follows', async (t) => {
    const host = await startHost({ owner: t, plugins: { sandbox: {}, echo: {}, ping: {} } });

    const chat = spawn(process.execPath, [CLI, 'chat', '--as', 'ann', '--wait', '60000'], {
      cwd: host.project,
      env: { PATH: process.env['PATH'], SVC_TEST_PORT: new URL(host.url).port },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let said = '';
    chat.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    chat.stdin.end('/echo once more\n');
    const code = await new Promise((resolve) => chat.once('close', resolve));
    assert.deepEqual([code, /once more/.test(said)], [0, true], said);

    const inbox = await json(host, 'inbox', 'list');
    const [item] = inbox['items'] as readonly { readonly id: string; readonly state: string }[];
    assert.equal(item?.state, 'done');
    assert.equal((await json(host, 'inbox', 'show', item?.id ?? ''))['id'], item?.id);
    assert.equal(((await json(host, 'outbox', 'list'))['items'] as readonly unknown[]).length, 1);
    const plugins = await asked(host, 'plugins', 'list');
    assert.match(plugins.stdout, /root\/echo/);
    assert.equal((await asked(host, 'endpoints', 'disable', 'root/sandbox:sandbox')).code, 0);
    assert.match((await asked(host, 'endpoints', 'list')).stdout, /sandbox.*disabled/);
    assert.equal((await asked(host, 'ingress', 'pause', '--reason', 'a look')).code, 0);
    const ingress = await asked(host, 'ingress', 'status', '--json');
    assert.deepEqual([ingress.code, (JSON.parse(ingress.stdout) as { reason: string }).reason], [1, 'a look']);
    const tail = await asked(host, 'events', 'tail', '--after', 'oldest', '--no-follow');
    assert.match(tail.stdout, /runtime\.started[\s\S]*inbox\.received[\s\S]*inbox\.done[\s\S]*ingress\./);
  });

  it('says so when nobody answers, when the token is another one, and when there is no such item', async (t) => {
    const host = await startHost({ owner: t, plugins: { sandbox: {} } });

    const absent = await asked(host, 'inbox', 'show', 'nothing');
    assert.deepEqual([absent.code, /no inbox item/.test(absent.stderr)], [1, true], absent.stderr);
    const other = await svc(['endpoints', 'list'], {
      cwd: host.project,
      env: { SVC_TEST_PORT: new URL(host.url).port, HTTP_TOKEN: 'another-token-altogether' },
    });
    assert.deepEqual([other.code, /token/.test(other.stderr)], [1, true], other.stderr);
    await host.kill();
    const dead = await asked(host, 'plugins', 'list');
    assert.deepEqual(
      [dead.code, /nothing is running here[\s\S]*svc runtime status/.test(dead.stderr)],
      [1, true],
      dead.stderr,
    );
  });

  it('needs no host to make a token', async (t) => {
    const { path } = temporaryProject(t, { config: null });

    const [one, two] = await Promise.all([1, 2].map(() => svc(['token', 'create'], { cwd: path })));

    assert.match(one?.stdout ?? '', /^[\w-]{43}\n$/);
    assert.notEqual(one?.stdout, two?.stdout);
    assert.equal(JSON.parse((await svc(['token', 'create', '--json'], { cwd: path })).stdout).bits, 256);
  });
});
