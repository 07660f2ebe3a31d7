// Every check of `svc doctor` has a fixture that makes it fail, and no fixture is left of a check that went.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHECKS } from '../../supervisor/cli/doctor/checks.ts';
import { CANNOT_BE_MADE, FIXTURES } from '../support/commands/doctor-fixtures.ts';
import { ROOT } from './source-tree.ts';

describe('the checks of svc doctor', () => {
  it('each have a fixture that makes them fail', () => {
    assert.deepEqual(CHECKS.map(({ id }) => id).toSorted(), Object.keys(FIXTURES).toSorted());
  });

  it('that no fixture can make fail on every machine have their judgement tested by name', () => {
    const tests = readFileSync(join(ROOT, 'test/process/cli/doctor.test.ts'), 'utf8');

    assert.deepEqual(
      Object.keys(CANNOT_BE_MADE).filter((id) => !tests.includes(`(${id})`)),
      [],
    );
  });

  it('have ids that are theirs alone', () => {
    assert.equal(new Set(CHECKS.map(({ id }) => id)).size, CHECKS.length);
  });
});
