// Bodies that come in pieces, and who makes room for whom.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeldBodies } from '../../../worker/http/request/held-bodies.ts';

const MIB = 1024 * 1024;

/** With a clock of its own; `ended` has the names of those that had to make room. */
function bodies() {
  let now = 0;
  const ended: string[] = [];
  const held = new HeldBodies(() => now);
  return {
    ended,
    held,
    open: (name: string, address = '203.0.113.9') => held.open(address, () => ended.push(name)),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('bodies that come in pieces', () => {
  it('are 1,024 at most: one more ends the oldest that is not whole', () => {
    const { ended, open } = bodies();
    const first = open('first', '10.0.0.1');
    for (let n = 1; n < 1_024; n += 1) open(String(n), `10.0.${n % 256}.1`);
    assert.deepEqual(ended, []);

    first.whole();
    open('fills its place');
    assert.deepEqual(ended, []);
    open('one more');

    assert.deepEqual(ended, ['1']);
  });

  it('that stand still make room for others, the oldest first, and count no more', () => {
    const { ended, open, pass } = bodies();
    const [slow, other] = [open('slow'), open('other')];
    assert.ok(slow.take(40 * MIB) && other.take(20 * MIB));
    pass(5_001);
    const quick = open('quick');

    assert.equal(quick.take(30 * MIB), true);
    assert.deepEqual(ended, ['slow']);
    slow.close();
    assert.equal(quick.take(14 * MIB), true, 'what made room is taken off once');
    assert.deepEqual(ended, ['slow']);
  });

  it('that drip are as slow as those that stand still; one that goes on is not', () => {
    const { ended, open, pass } = bodies();
    const [drips, goesOn] = [open('drips'), open('goes on')];
    assert.ok(drips.take(30 * MIB) && goesOn.take(30 * MIB));
    for (let n = 0; n < 6; n += 1) {
      pass(1_000);
      drips.take(1);
      goesOn.take(2 * 1024);
    }
    const quick = open('quick');

    assert.equal(quick.take(30 * MIB), true);
    assert.equal(quick.take(30 * MIB), false, 'there is no slow one left');
    assert.deepEqual(ended, ['drips']);
  });

  it('make no room for another client while there is some in all, and small ones always get in', () => {
    const { ended, held, open, pass } = bodies();
    const own = open('own', '10.0.0.1');
    assert.ok(own.take(60 * MIB));
    pass(6_000);

    assert.equal(held.isFullFor('10.0.0.2', 25 * MIB), false);
    assert.deepEqual(ended, []);
    const mine = open('mine', '10.0.0.1');
    own.take(3 * MIB + 1);
    assert.equal(mine.take(64 * 1024), true);
    assert.equal(mine.take(MIB), false);
    assert.deepEqual(ended, []);
  });

  it('that are closed take nothing more: nobody would release it', () => {
    const { open } = bodies();
    const gone = open('gone');
    assert.ok(gone.take(40 * MIB));
    gone.close();

    assert.equal(gone.take(1), false);
    assert.equal(open('next').take(64 * MIB), true);
  });
});
