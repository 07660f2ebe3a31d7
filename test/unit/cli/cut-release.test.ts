// Which step of a release goes on behind an exchange that was cut, and what a rollback says that it has taken back.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { SwitchPurpose } from '../../../shared/recovery/switch.ts';
import { losesWork, takenBackText } from '../../../supervisor/cli/output/restore-text.ts';
import { isCodeCut, pendingFor } from '../../../supervisor/cli/release/hand-over.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const NOTHING = { events: 4, handled: 0, plugins: 0, journal: null, jobs: 0, tasks: 0, sends: 0, accounts: 0 };

function cut(t: Cleanup, purpose: SwitchPurpose): string {
  const { path, paths } = temporaryProject(t);
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const document = { format: 'svc.switch/1', purpose, names: {}, renames: [], leftovers: [] };
  writeFileSync(paths.pendingSwitch, JSON.stringify(document));
  return path;
}

describe('a switch that was cut', () => {
  it('is finished by its own step of the release, or by a rollback; other steps name the one command', (t) => {
    const goesOn = (purpose: SwitchPurpose, verb: string): unknown => {
      try {
        return pendingFor(cut(t, purpose), verb)?.purpose;
      } catch (error) {
        return (error as { readonly hint: string }).hint;
      }
    };

    const table = (['release', 'rollback', 'restore'] as const).map((purpose) =>
      ['start', 'rollback', 'observe'].map((verb) => goesOn(purpose, verb)),
    );

    assert.deepEqual(table, [
      ['release', 'release', 'svc release start finishes it'],
      ['svc release rollback finishes it', 'rollback', 'svc release rollback finishes it'],
      Array.from({ length: 3 }, () => 'svc checkpoint restore --finish finishes it'),
    ]);
  });

  it('may have moved the code, unless it is of a restore', (t) => {
    const isCut = (['release', 'rollback', 'restore', 'undo'] as const).map((purpose) => isCodeCut(cut(t, purpose)));
    assert.deepEqual(isCut, [true, true, false, false]);
    assert.equal(isCodeCut(temporaryProject(t).path), false);
  });
});

describe('what a rollback has taken back', () => {
  it('is said where it is work, or where nobody can tell; events alone are none', () => {
    const taken = { replaced: 's3', lost: NOTHING, unreadable: null };
    const work = { ...taken, lost: { ...NOTHING, jobs: 2, journal: { from: 7, to: 9 }, accounts: 1 } };
    const unknown = { replaced: null, lost: null, unreadable: 'it is damaged' };

    assert.equal(takenBackText(taken), undefined);
    assert.equal(
      takenBackText(work),
      'taken back with the version: 4 events, journal 7-9, 2 jobs changed, 1 account enabled or disabled; it lies in .svc/replaced/s3',
    );
    assert.equal(
      takenBackText(unknown),
      'taken back with the version: all of it, since it cannot be read: it is damaged; it lies in .svc/replaced',
    );
    assert.deepEqual([taken, work, unknown].map(losesWork), [false, true, true]);
  });
});
