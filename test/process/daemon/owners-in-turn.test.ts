// Starts of one project under one owner after another: each end is told once, as what it was, whoever saw it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ToldExit } from '../../../shared/api/control.ts';
import { lives } from '../../support/process/supervised.ts';
import { portProject, startSvc, supervisorStatus, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

interface LedgerRow {
  readonly before: string;
  readonly end: string;
  readonly code: number | null;
  readonly signal: string | null;
}

interface Status {
  readonly runtimeId: string;
  readonly pid: number;
  readonly state: string;
  readonly exits: readonly ToldExit[];
}

async function project(t: TestContext) {
  const { path, paths, url, token, write } = await portProject(t);
  const status = async (): Promise<Status> =>
    JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);
  return {
    path,
    paths,
    url,
    write,
    status,
    /** A start and a stop under a supervisor; gives the runtime id of its worker. */
    async daemonRuns(...flags: readonly string[]): Promise<string> {
      const { stdout } = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path });
      assert.equal((await svc(['runtime', 'stop', ...flags], { cwd: path })).code, 0);
      return JSON.parse(stdout).runtimeId;
    },
    /** A worker in the foreground that ends by the signal; gives its runtime id. */
    async foregroundEndsBy(signal: 'SIGKILL' | 'SIGTERM'): Promise<string> {
      const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: path });
      t.after(() => void host.child.kill('SIGKILL'));
      await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'ready' });
      const { runtimeId } = await status();
      host.child.kill(signal);
      await host.ended;
      return runtimeId;
    },
    /** Newest first. */
    async ledger(): Promise<readonly LedgerRow[]> {
      const answer = await fetch(`${url}/api/system/status`, { headers: { authorization: `Bearer ${token}` } });
      return ((await answer.json()) as { readonly lastExits: readonly LedgerRow[] }).lastExits;
    },
  };
}

describe('a daemon that follows a worker in the foreground', { concurrency: 3 }, () => {
  it('tells in the ledger that the worker was killed, and lists its end among the others', async (t) => {
    const { path, status, daemonRuns, foregroundEndsBy, ledger } = await project(t);
    const first = await daemonRuns();
    const ordered = await foregroundEndsBy('SIGTERM');
    const killed = await foregroundEndsBy('SIGKILL');

    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    // A busy worker may be asked for its ledger in vain: status tells what the supervisor has seen itself then.
    const { exits } = await until(async () => [await status()].find((told) => told.exits.length === 3), {
      what: 'all three ends',
    });

    assert.deepEqual(
      (await ledger()).map(({ end }) => end),
      ['crashed', 'stopped', 'stopped'],
    );
    assert.deepEqual(
      exits.map(({ runtimeId, reason }) => [runtimeId, reason]),
      [
        [first, 'stopped'],
        [ordered, 'stopped'],
        [killed, 'crashed'],
      ],
    );
    const [own] = exits;
    assert.ok((own?.durationMs ?? 0) > 0, 'what the supervisor has seen itself is told in full');
    const isTold = async () =>
      new RegExp(`${killed}.*ended without a word`).test((await svc(['runtime', 'status'], { cwd: path })).stdout);
    await until(isTold, { what: 'the text of it' });
  });

  it('tells in the ledger that it was stopped, where the daemon before had crashed', async (t) => {
    const { path, daemonRuns, foregroundEndsBy, ledger } = await project(t);
    await daemonRuns();
    const { stdout } = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path });
    const { supervisorPid, pid } = JSON.parse(stdout);
    process.kill(supervisorPid, 'SIGKILL');
    await until(() => !lives(supervisorPid) && !lives(pid), { what: 'the end of both' });
    const isOver = async () => (await svc(['runtime', 'status'], { cwd: path })).code === 3;
    await until(isOver, { what: 'status to tell it', everyMs: 100 });
    await foregroundEndsBy('SIGTERM');

    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);

    assert.equal((await ledger())[0]?.end, 'stopped');
  });
});

describe('a worker that ended before it held the state', { concurrency: 3 }, () => {
  it('leaves no end in the ledger: that of the one before it is told as it was', async (t) => {
    const { path, paths, write, status, ledger } = await project(t);
    const good = readFileSync(join(path, 'svc.config.yml'), 'utf8');
    await svc(['runtime', 'start', '--daemon'], { cwd: path });
    const { runtimeId: killed, pid } = await status();
    write('svc.config.yml', 'nonsense: true\n');
    process.kill(pid, 'SIGKILL');
    await until(async () => (await supervisorStatus({ paths })).state === 'failed', {
      what: 'the refused configuration',
    });
    write('svc.config.yml', good);

    assert.equal((await svc(['runtime', 'restart'], { cwd: path })).code, 0);
    const [last] = await ledger();

    assert.deepEqual([last?.end, last?.code, last?.signal], ['crashed', null, 'SIGKILL']);
    assert.deepEqual(
      (await status()).exits.map(({ runtimeId, reason }) => [runtimeId === killed, reason]),
      [
        [true, 'crashed'],
        [false, 'config'],
      ],
    );
  });
});

describe('a worker in the foreground that follows a daemon', { concurrency: 3 }, () => {
  it('tells in the ledger that the worker before was stopped, where its supervisor had to kill it', async (t) => {
    const { path, url, daemonRuns, ledger } = await project(t);
    await daemonRuns('--now');

    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: path });
    t.after(() => void host.child.kill('SIGKILL'));
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'ready' });

    assert.equal((await ledger())[0]?.end, 'stopped');
  });
});
