// What this machine lets the other files of this folder do, said aloud: they skip where it does not.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nspawnMissing } from '../../support/owners/booted-systemd.ts';

it('says whether a systemd can be booted here', (t) => {
  const missing = nspawnMissing();

  t.diagnostic(missing === false ? 'a systemd can be booted here' : `no systemd is booted: ${missing}`);
  assert.notEqual(missing, '');
});
