// The commit that the build of an image noted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { imageCommit } from '../../../shared/recovery/image-commit.ts';

const ID = '0123456789abcdef0123456789abcdef01234567';

it('is taken for the commit of the project, and nothing else is', () => {
  assert.deepEqual(imageCommit({ PROJECT_COMMIT: ID }), { id: ID, dirty: false });
  for (const other of [undefined, '', 'main', `${ID}-dirty`, ID.slice(1)])
    assert.equal(imageCommit({ PROJECT_COMMIT: other }), undefined);
});
