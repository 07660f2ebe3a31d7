// Rows of an acceptance, judged from facts: each row with each answer.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AcceptanceFacts, AcceptanceRow } from '../../../shared/api/recovery/acceptance.ts';
import {
  ACCEPTANCE_ROWS,
  type AcceptanceRowName,
  isAccepted,
  judgeAcceptance,
} from '../../../shared/recovery/acceptance.ts';
import { ACCEPTANCE_FACTS } from '../../support/recovery/acceptance-facts.ts';

type Change = Partial<AcceptanceFacts>;
interface Case {
  readonly title: string;
  readonly answer: AcceptanceRow['answer'];
  readonly facts: Change;
  /** In the first line of evidence, or the remedy. */
  readonly says: RegExp;
}

const { host, accepted, authority, capability } = ACCEPTANCE_FACTS;
const [ENDPOINT] = ACCEPTANCE_FACTS.endpoints as [AcceptanceFacts['endpoints'][number]];
const endpoint = (change: Partial<AcceptanceFacts['endpoints'][number]>): Change => ({
  endpoints: [{ ...ENDPOINT, ...change }],
});
const silent = { handled: 0, open: 0, dead: 0, lastAt: null };
const health = (...answers: Partial<AcceptanceFacts['health'][number]>[]): Change => ({
  health: answers.map((one) => ({ url: 'https://bot.example/pub/health', status: 200, reason: null, ms: 3, ...one })),
});
const NO_ANSWER = { status: null, reason: 'no answer: refused' } as const;
const RELEASE = {
  name: 'r7',
  state: 'started',
  commit: host.commit,
  lockfile: host.lockfile,
  configVersion: null,
  svc: null,
} as const;
const lastly = (change: Partial<typeof host>): Change => ({
  accepted: accepted && { ...accepted, host: { ...host, ...change } },
});
const trusted = (change: Partial<AcceptanceFacts['authority']>): Change => ({ authority: { ...authority, ...change } });
const journal = (change: Partial<NonNullable<AcceptanceFacts['authority']['journal']>>): Change =>
  trusted({ journal: authority.journal && { ...authority.journal, ...change } });
const proof = (change: object): Change =>
  journal({ verified: { at: '2026-01-02T10:00:00.000Z', seq: 9, hash: 'abc', faults: 0, ...change } });

const CASES: Readonly<Record<AcceptanceRowName, readonly Case[]>> = {
  health: [
    { title: 'it answers', answer: 'yes', facts: {}, says: /answers 200/ },
    { title: 'nobody has asked', answer: 'unknown', facts: { health: [] }, says: /nobody has asked/ },
    { title: 'it answers otherwise', answer: 'no', facts: health({ status: 503 }), says: /answers 503/ },
    {
      title: 'another server answers',
      answer: 'no',
      facts: health({ reason: 'answers 200 with something else' }),
      says: /something else/,
    },
    { title: 'nothing answers', answer: 'no', facts: health(NO_ANSWER), says: /no answer/ },
    {
      title: 'the public address answers not to this machine, the bound one does',
      answer: 'unknown',
      facts: health(NO_ANSWER, {}),
      says: /no answer/,
    },
    { title: 'neither answers', answer: 'no', facts: health(NO_ANSWER, NO_ANSWER), says: /no answer/ },
  ],
  host: [
    { title: 'it is as accepted', answer: 'yes', facts: {}, says: /project f67e/ },
    { title: 'nothing was accepted before', answer: 'unknown', facts: { accepted: null }, says: /accepted before/ },
    { title: 'the project is another', answer: 'no', facts: lastly({ project: 'a' }), says: /accepted was a/ },
    { title: 'svc is another', answer: 'unknown', facts: lastly({ svc: '1.2.9' }), says: /svc 1.3.0.*1.2.9/ },
    { title: 'the commit is another', answer: 'unknown', facts: lastly({ commit: 'b' }), says: /commit 9f2a.* b/ },
    {
      title: 'files were changed since the commit',
      answer: 'unknown',
      facts: { host: { ...host, dirty: true } },
      says: /with changes/,
    },
    {
      title: 'the configuration is another',
      answer: 'unknown',
      facts: lastly({ configVersion: 'sha256:d' }),
      says: /configuration c0ff/,
    },
    { title: 'the lockfile is another', answer: 'unknown', facts: lastly({ lockfile: null }), says: /was none/ },
    {
      title: 'it is what the release says, whatever was accepted before',
      answer: 'yes',
      facts: { release: RELEASE, ...lastly({ commit: 'b', lockfile: 'c' }) },
      says: /project/,
    },
    {
      title: 'it is not what the release says',
      answer: 'no',
      facts: { release: { ...RELEASE, lockfile: 'ffff' } },
      says: /lockfile 41ab.*r7 says ffff/,
    },
    {
      title: 'git does not follow a release below the root of its repository',
      answer: 'unknown',
      facts: { release: { ...RELEASE, commit: 'ffff' }, host: { ...host, isRoot: false } },
      says: /begins above/,
    },
    {
      title: 'the release says nothing',
      answer: 'unknown',
      facts: { release: { ...RELEASE, commit: null, lockfile: null } },
      says: /does not say/,
    },
    {
      title: 'the new version is not started',
      answer: 'no',
      facts: { release: { ...RELEASE, state: 'checked' } },
      says: /the version before it runs.*svc release start/s,
    },
  ],
  endpoints: [
    { title: 'something was handled', answer: 'yes', facts: {}, says: /2 handled/ },
    { title: 'there is none', answer: 'yes', facts: { endpoints: [] }, says: /none is enabled/ },
    {
      title: 'one is offline',
      answer: 'no',
      facts: endpoint({ state: 'offline', reason: 'refused' }),
      says: /offline: refused/,
    },
    {
      title: 'one is disabled',
      answer: 'no',
      facts: endpoint({ state: 'disabled' }),
      says: /endpoints enable irc~libera/,
    },
    { title: 'one is not there', answer: 'no', facts: endpoint({ state: null }), says: /not there/ },
    { title: 'nothing came in', answer: 'unknown', facts: endpoint(silent), says: /write anything to irc~libera/ },
    {
      title: 'nothing came in of the sandbox',
      answer: 'unknown',
      facts: endpoint({ ...silent, isSandbox: true }),
      says: /by itself/,
    },
    {
      title: 'what came in waits',
      answer: 'unknown',
      facts: endpoint({ ...silent, open: 3 }),
      says: /none is handled yet/,
    },
    { title: 'what came in died', answer: 'no', facts: endpoint({ ...silent, dead: 3 }), says: /all 3 .* dead/ },
    {
      title: 'it was parked by a release',
      answer: 'yes',
      facts: { ...endpoint({ ...silent, open: 1 }), isPaused: true, release: RELEASE },
      says: /1 parked/,
    },
    {
      title: 'it was parked without a release',
      answer: 'unknown',
      facts: { ...endpoint({ ...silent, open: 1 }), isPaused: true },
      says: /svc ingress resume/,
    },
  ],
  capability: [
    { title: 'all that was accepted is there', answer: 'yes', facts: {}, says: /with all that was accepted/ },
    { title: 'nothing was accepted before', answer: 'yes', facts: { accepted: null }, says: /nothing was accepted/ },
    {
      title: 'the newest configuration does not serve',
      answer: 'no',
      facts: { capability: { ...capability, failure: { code: 'plugin_failed', reason: 'no such file' } } },
      says: /plugin_failed: no such file/,
    },
    {
      title: 'no generation serves',
      answer: 'no',
      facts: { capability: { ...capability, generation: null } },
      says: /no generation/,
    },
    {
      title: 'a capability is gone',
      answer: 'unknown',
      facts: { capability: { ...capability, capabilities: [] } },
      says: /echo#on\/message is gone/,
    },
    {
      title: 'an endpoint is gone',
      answer: 'unknown',
      facts: { capability: { ...capability, endpoints: [] } },
      says: /irc~libera is gone/,
    },
  ],
  authority: [
    { title: 'all name one project', answer: 'yes', facts: {}, says: /project f67e/ },
    { title: 'it is no Workroom', answer: 'yes', facts: trusted({ journal: null }), says: /project f67e/ },
    {
      title: 'nothing was ever told',
      answer: 'yes',
      facts: trusted({ events: { oldest: 1, head: 0, first: null, last: null, count: 0 } }),
      says: /project/,
    },
    {
      title: 'the database is of another timeline',
      answer: 'no',
      facts: trusted({ database: { project: 'f67e', epoch: 'b' } }),
      says: /timeline b/,
    },
    {
      title: 'events have a hole',
      answer: 'no',
      facts: trusted({ events: { ...authority.events, count: 29 } }),
      says: /29 are stored/,
    },
    {
      title: 'events end before the head',
      answer: 'no',
      facts: trusted({ events: { ...authority.events, first: 10, last: 39 } }),
      says: /10 to 39/,
    },
    { title: 'the journal is of another project', answer: 'no', facts: journal({ project: 'a' }), says: /project a/ },
    { title: 'the catalog is ahead', answer: 'no', facts: journal({ appliedSeq: 10 }), says: /catalog is at 10/ },
    { title: 'the proof found a fault', answer: 'no', facts: proof({ faults: 1 }), says: /1 faults/ },
    { title: 'the head is not the proven one', answer: 'no', facts: proof({ hash: 'abd' }), says: /not the one/ },
    { title: 'the journal is shorter than proven', answer: 'no', facts: proof({ seq: 10 }), says: /proven to 10/ },
    { title: 'the journal grew since', answer: 'yes', facts: proof({ seq: 7, hash: 'b' }), says: /project/ },
    { title: 'nothing was proven', answer: 'unknown', facts: journal({ verified: null }), says: /not proven/ },
    {
      title: 'the jobs file is refused',
      answer: 'no',
      facts: trusted({ jobs: { state: 'refused', reason: '3:1 no such job', revision: 2 } }),
      says: /3:1 no such job/,
    },
  ],
  quiet: [
    { title: 'nothing died since the begin', answer: 'yes', facts: {}, says: /4 from before/ },
    {
      title: 'something died',
      answer: 'no',
      facts: { quiet: { dead: 5, diedSince: 1, critical: [], unknown: [] } },
      says: /1 dead letters since/,
    },
    {
      title: 'a critical alert fires',
      answer: 'no',
      facts: { quiet: { dead: 0, diedSince: 0, critical: ['SvcDiskLow'], unknown: [] } },
      says: /SvcDiskLow fires/,
    },
    {
      title: 'nobody knows whether a critical alert fires',
      answer: 'unknown',
      facts: { quiet: { dead: 0, diedSince: 0, critical: [], unknown: ['SvcDiskLow'] } },
      says: /SvcDiskLow.*svc alerts/s,
    },
  ],
};

const rowsOf = (change: Change, settled: Parameters<typeof judgeAcceptance>[1] = {}): readonly AcceptanceRow[] =>
  judgeAcceptance({ ...ACCEPTANCE_FACTS, ...change }, settled);

for (const row of ACCEPTANCE_ROWS)
  describe(`${row} of an acceptance`, () => {
    for (const { title, answer, facts, says } of CASES[row])
      it(`is ${answer} where ${title}`, () => {
        const rows = rowsOf(facts);
        const found = rows.find((one) => one.row === row);

        assert.equal(found?.answer, answer, JSON.stringify(found));
        assert.match(`${found?.evidence[0]}\n${found?.remedy}`, says);
        assert.equal(found?.remedy === null, answer === 'yes', 'what is not yes has a remedy');
        assert.equal(
          isAccepted(rows),
          rows.every((one) => one.answer === 'yes'),
        );
      });
  });

describe('an acceptance', () => {
  it('has every row in order', () => {
    assert.deepEqual(
      rowsOf({}).map(({ row }) => row),
      ACCEPTANCE_ROWS,
    );
    assert.equal(isAccepted(rowsOf({})), true);
  });

  it('takes a reason for an unknown, never for a no, and drops one for a yes', () => {
    const facts = { accepted: null, quiet: { dead: 5, diedSince: 1, critical: [], unknown: [] } };
    const rows = rowsOf(facts, { host: 'first release', quiet: 'known', health: 'seen' });

    assert.deepEqual(
      rows.map(({ row, answer, settled }) => [row, answer, settled]).filter(([, , settled]) => settled !== null),
      [['host', 'unknown', 'first release']],
    );
    assert.equal(isAccepted(rows), false);
    assert.equal(isAccepted(rowsOf({ accepted: null }, { host: 'first release' })), true);
  });

  it('says the worst first', () => {
    const two = [{ ...ENDPOINT }, { ...ENDPOINT, id: 'root/line:line', state: 'failed', remedy: 'a new token' }];
    const found = rowsOf({ endpoints: two })[2];

    assert.deepEqual([found?.answer, found?.remedy, found?.evidence.length], ['no', 'a new token', 2]);
    assert.match(found?.evidence[0] ?? '', /line is failed/);
  });
});
