// Promises of an adapter about arrivals that the host has not stored, because it was killed or had no room.
import assert from 'node:assert/strict';
import { codeOf, hasAll, live } from './connections.ts';
import { heard, type Lack, needs } from './lack.ts';
import { idsOf, type Promised, type Trial } from './trial.ts';

/** The process is killed before and after each commit. Arrivals that were not committed come again, to a process without any memory. */
async function outlivesCrashes(trial: Trial): Promise<void> {
  const { fixtures, open } = trial;
  let { committed } = trial.bench;
  const ends: Promise<void>[] = [];
  for (let life = 1; life <= MOST_LIVES; life += 1) {
    let commits = 0;
    let isDead = false;
    const bench = open({
      committed,
      store(commit) {
        commits += isDead ? 0 : 1;
        const isLast = commits === Math.ceil(life / 2);
        if (!isDead && !(isLast && life % 2 === 1)) commit();
        isDead ||= isLast;
        if (isDead) throw new Error('killed here by the suite');
      },
    });
    // The end of a killed life is awaited only at the end of the test: its adapter may still try to store.
    await live(trial, bench, { isEnough: () => isDead || hasAll(trial, bench), ends });
    ({ committed } = bench);
    if (!isDead) break;
  }
  const last = open({ committed });
  await live(trial, last, { isEnough: () => hasAll(trial, last) });
  await Promise.all(ends);
  assert.deepEqual(idsOf(last), fixtures.history, 'nothing is missing, nothing is there twice');
}

const MOST_LIVES = 12;

/** The host refuses some commits and takes the next: the first one, which may be a cursor alone, and later ones. */
async function waitsForRoom(trial: Trial): Promise<void> {
  const { fixtures, open } = trial;
  let commits = 0;
  const bench = open({
    store(commit) {
      commits += 1;
      if (REFUSED.has(commits)) throw new Error('refused here by the suite');
      commit();
    },
  });
  for (let life = 1; life <= MOST_LIVES && !hasAll(trial, bench); life += 1) {
    const lost = await live(trial, bench, { isEnough: () => hasAll(trial, bench) });
    assert.notEqual(codeOf(lost?.error), 'account_failed', 'the host has no room, the account is well');
  }
  assert.deepEqual(idsOf(bench), fixtures.history, 'what was not stored has come again, and nothing twice');
}

const REFUSED: ReadonlySet<number> = new Set([1, 3, 6]);

const hears = needs(
  ({ connect, catchUp }) =>
    (connect ?? catchUp) === undefined
      ? { of: 'connect', reason: 'the adapter has no connect and no catchUp' }
      : undefined,
  heard,
);

/** Deliveries are independent: a refused one comes again, perhaps after later ones. */
const behindCursor: Lack = (_, { redelivers }) =>
  redelivers === undefined ? undefined : { reason: 'what was missed comes as deliveries, each by itself' };

export const STORAGE: readonly Promised[] = [
  {
    title: 'loses nothing and brings nothing twice over a crash before and after each commit',
    lack: hears,
    keep: outlivesCrashes,
  },
  {
    title: 'brings again what the host could not store, whatever comes behind it',
    lack: needs(hears, behindCursor),
    keep: waitsForRoom,
  },
];
