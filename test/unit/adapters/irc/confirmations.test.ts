// What waits for the server's PONG, and what ends it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Confirmations } from '../../../../worker/adapters/irc/confirmations.ts';

describe('confirmations', () => {
  it('end once with the connection, and none begins after it: no timer is left (IRC-CONFIRMATIONS-1)', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const confirmations = new Confirmations({ limitMs: 30_000, lower: (text) => text });
    const before = confirmations.expect('before');

    confirmations.end(new Error('gone'));

    await assert.rejects(before, /gone/);
    await assert.rejects(confirmations.expect('after'), /gone/);
  });
});
