// Which step of a release may follow which, and what the window is judged by.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { after, commandAfter, next, type ReleaseCommand } from '../../../shared/recovery/release-machine.ts';
import {
  listReleases,
  openRelease,
  RELEASE_STATES,
  type ReleaseRecord,
  type ReleaseState,
  readRelease,
  releaseFolder,
  writeRelease,
} from '../../../shared/recovery/release-record.ts';
import { type Counts, judge, type WindowFacts } from '../../../worker/recovery/release/verdict.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const version = { commit: null, lockfile: null, configVersion: null, svc: '0.1.0', schema: 15 };
const release = (state: ReleaseState, more: Partial<ReleaseRecord> = {}): ReleaseRecord => ({
  format: 'svc.release/1',
  name: 'r1',
  source: { kind: 'folder', value: '/new' },
  state,
  steps: [],
  before: version,
  after: null,
  restorePoint: 'c1',
  owner: 'daemon',
  tree: null,
  wasPaused: false,
  results: {},
  windowUntil: null,
  verdict: null,
  ...more,
});

describe('the steps of a release', () => {
  it('run in one order, are done once, and end with finish or rollback', () => {
    const table = RELEASE_STATES.map((state) =>
      (['check', 'start', 'accept', 'observe', 'finish', 'rollback'] as const).map((command) => {
        const verdict = { verdict: 'good', signal: '', at: '' } as const;
        const found = next(release(state, { verdict }), command, { now: NOW });
        return found.kind === 'run' ? found.to : found.kind;
      }),
    );

    assert.deepEqual(table, [
      ['checked', 'refused', 'refused', 'refused', 'refused', 'rolled_back'],
      ['done', 'started', 'refused', 'refused', 'refused', 'rolled_back'],
      ['done', 'done', 'accepted', 'refused', 'refused', 'rolled_back'],
      ['done', 'done', 'done', 'observing', 'refused', 'rolled_back'],
      ['done', 'done', 'done', 'done', 'finished', 'rolled_back'],
      ['done', 'done', 'done', 'done', 'done', 'refused'],
      ['refused', 'refused', 'refused', 'refused', 'refused', 'done'],
    ]);
  });

  it('name the command that goes on', () => {
    assert.deepEqual(RELEASE_STATES.map(commandAfter), [
      'check',
      'start',
      'accept',
      'observe',
      'finish',
      undefined,
      undefined,
    ]);
  });

  const finishing = (more: Partial<ReleaseRecord>, isForced = false) =>
    next(release('observing', more), 'finish', { now: NOW, isForced });

  it('do not finish before the end of the window, nor with a bad verdict', () => {
    const good = { verdict: 'good', signal: 'fine', at: '' } as const;
    const bad = { verdict: 'bad', signal: '3 crashes', at: '' } as const;
    const open = finishing({ windowUntil: new Date(NOW + 1).toISOString(), verdict: good }, true);
    const over = finishing({ windowUntil: new Date(NOW).toISOString(), verdict: good });
    const failed = finishing({ verdict: bad }, true);

    assert.match(open.kind === 'refused' ? open.reason : '', /runs until/);
    assert.deepEqual(over, { kind: 'run', to: 'finished' });
    assert.match(failed.kind === 'refused' ? `${failed.reason} ${failed.hint}` : '', /3 crashes svc release rollback/);
  });

  it('finish with an unclear verdict only when asked to', () => {
    const verdict = { verdict: 'unclear', signal: 'only 3 messages were handled', at: '' } as const;

    assert.equal(finishing({ verdict }).kind, 'refused');
    assert.equal(finishing({ verdict: null }).kind, 'refused');
    assert.deepEqual(finishing({ verdict }, true), { kind: 'run', to: 'finished' });
  });
});

describe('the record of a release', () => {
  it('is read as it was written, and the one that has not ended is found', (t) => {
    const { path: folder } = temporaryProject(t);
    const first = after(release('observing'), 'finished', { at: '2026-11-28T12:00:00Z', actor: 'ann' });
    const second = release('begun', { name: 'r10' });
    writeRelease(folder, first);
    writeRelease(folder, second);
    mkdirSync(join(releaseFolder(folder, 'r2'), 'next'), { recursive: true });

    assert.deepEqual(listReleases(folder), [first, second]);
    assert.deepEqual(openRelease(folder), second);
    assert.deepEqual(first.steps, [{ state: 'finished', at: '2026-11-28T12:00:00Z', actor: 'ann' }]);
  });

  it('is refused with its file where it cannot be read', (t) => {
    const { path: folder } = temporaryProject(t);
    writeRelease(folder, release('begun'));
    const file = join(releaseFolder(folder, 'r1'), 'record.json');
    writeFileSync(file, '{"format": "svc.release/1"}');

    assert.throws(() => readRelease(folder, 'r1'), { code: 'refused', message: /record\.json: .*name/ });
    writeFileSync(file, 'half');
    assert.throws(() => listReleases(folder), { code: 'refused', message: /is no JSON/ });
    rmSync(file);
    assert.throws(() => readRelease(folder, 'r1'), { code: 'not_found' });
  });
});

describe('the verdict of the window', () => {
  const quiet: Counts = {
    crashes: 0,
    longestNotReadyMs: 0,
    handled: 100,
    deadOrUnknown: 0,
    agentRuns: 0,
    agentFailures: 0,
  };
  const verdict = (since: Partial<Counts>, more: Partial<WindowFacts> = {}) =>
    judge({ before: quiet, since: { ...quiet, ...since }, lostAccounts: [], oldestWaitingMs: 0, ...more });

  it('is good for a version that handles as before', () => {
    assert.equal(verdict({}).verdict, 'good');
    assert.equal(verdict({ crashes: 1, longestNotReadyMs: 60_000, deadOrUnknown: 4 }).verdict, 'good');
  });

  it('is bad for each signal, and says which', () => {
    const lost = (forMs: number) => ({ lostAccounts: [{ name: 'root/irc:irc~libera', forMs }] });
    const signals = [
      verdict({ crashes: 2 }),
      verdict({ longestNotReadyMs: 60_001 }),
      verdict({}, lost(300_000)),
      verdict({ deadOrUnknown: 5 }),
      verdict({ agentRuns: 10, agentFailures: 2 }),
      verdict({}, { oldestWaitingMs: 600_001 }),
    ];

    assert.deepEqual(
      signals.map(({ verdict: of }) => of),
      signals.map(() => 'bad'),
    );
    assert.equal(new Set(signals.map(({ signal }) => signal)).size, signals.length);
    assert.equal(verdict({}, lost(299_999)).verdict, 'good');
  });

  it('compares ends with the span before', () => {
    const before = { ...quiet, deadOrUnknown: 10 };

    assert.equal(verdict({ deadOrUnknown: 20 }, { before }).verdict, 'good');
    assert.equal(verdict({ deadOrUnknown: 21 }, { before }).verdict, 'bad');
  });

  it('is unclear, never good, where almost nothing was handled', () => {
    assert.equal(verdict({ handled: 19 }).verdict, 'unclear');
    assert.equal(verdict({ handled: 19, crashes: 2 }).verdict, 'bad');
  });
});

const COMMANDS: readonly ReleaseCommand[] = ['check', 'start', 'accept', 'observe', 'finish', 'rollback'];
it('refusals name a remedy', () => {
  for (const state of RELEASE_STATES)
    for (const command of COMMANDS) {
      const found = next(release(state), command, { now: NOW });
      if (found.kind === 'refused') assert.match(found.hint, /svc (release|checkpoint) /);
    }
});
