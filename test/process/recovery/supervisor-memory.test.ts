// What restarts leave in the memory of the supervisor: nothing that lives. It stays for as long as its host.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { fixtureProgram } from '../../support/process/fixture-programs.ts';
import { type Supervised, startSupervisor } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';

interface Live {
  readonly processes: number;
  readonly streams: number;
  readonly objects: number;
}

/** Enough for what is bounded to be full: ten ends are remembered. */
const FIRST = 12;
const MORE = 30;
/** The last worker is remembered for a second. */
const LET_GO_MS = 30_000;

let programs: ReadonlyMap<string, string>;

before(async () => {
  programs = await bundlePrograms(['counts-its-objects', 'listens'].map(fixtureProgram));
});

describe('restarts', () => {
  it('leave nothing alive in the supervisor, asked for or not', async (t) => {
    const run = startSupervisor(t, {
      supervisor: programs.get('counts-its-objects') ?? '',
      worker: programs.get('listens') ?? '',
      settings: { port: await freePort(), restarts: 100, windowMs: 1_000, delaysMs: [0] },
    });
    await run.state('running');
    for (let restart = 1; restart <= FIRST; restart += 1) await restarted(run, restart);
    const first = await live(run);

    for (let restart = 1; restart <= MORE; restart += 1) await restarted(run, restart);

    assert.equal((await run.status()).exits.at(-1)?.run, FIRST + MORE);
    await until(async () => assertNoMore(await live(run), first), {
      what: 'what was alive before',
      timeoutMs: LET_GO_MS,
    });
  });
});

/** By a command and by a kill in turn. */
async function restarted(run: Supervised, nth: number): Promise<void> {
  const { pid } = await run.status();
  if (nth % 2 === 0) await run.call('restart');
  else process.kill(pid ?? 0, 'SIGKILL');
  const isAnother = async (): Promise<boolean> => {
    const status = await run.status();
    return status.state === 'running' && status.pid !== pid;
  };
  await until(isAnother, { what: 'another worker' });
}

/** A third: half of the restarts are of one kind, and each leaves one where it leaves any. */
function assertNoMore(now: Live, first: Live): true {
  for (const kind of ['processes', 'streams', 'objects'] as const) {
    const grown = now[kind] - first[kind];
    assert.ok(grown < MORE / 3, `${grown} ${kind} more after ${MORE} restarts`);
  }
  return true;
}

async function live({ project, child }: Supervised): Promise<Live> {
  const file = join(project.path, 'objects');
  rmSync(file, { force: true });
  child.kill('SIGUSR2');
  return until(() => JSON.parse(readFileSync(file, 'utf8')) as Live, { what: 'the count' });
}
