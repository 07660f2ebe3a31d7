// How far an account has come: what is resumed, and from where messages are missing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Position } from '../../../../worker/adapters/discord/gateway/position.ts';
import { snowflakeAt, timeOf } from '../../../../worker/adapters/discord/place.ts';

const APP = '845027738276462632';
const NOW = 1_700_000_000_000;
const session = (id: string) => ({ id, url: 'wss://gateway.example', seq: 1 });

describe('Position', () => {
  it('holds the last dispatch that is stored, of its session alone (DISCORD-POSITION-1)', () => {
    const position = new Position(APP, undefined);
    position.begin(session('a'), NOW);

    const together = new Position(APP, position.text({ session: 'a', seq: 9, seen: snowflakeAt(NOW) }));
    position.stored('a', 5);
    position.stored('a', 3);
    position.stored('b', 99);

    assert.deepEqual([position.session?.seq, together.session?.seq], [5, 9]);
    assert.deepEqual(new Position(APP, position.text()).session, { ...session('a'), seq: 5 });
  });

  it('has a gap from the newest message on, when there is a new session, until it is filled (DISCORD-POSITION-2)', () => {
    const position = new Position(APP, undefined);
    position.begin(session('a'), NOW);
    const first = position.since;
    position.saw(snowflakeAt(NOW + 600_000));

    position.drop();
    const later = new Position(APP, position.text());
    later.begin(session('b'), NOW + 3_600_000);
    const { since = '' } = later;
    later.begin(session('c'), NOW + 7_200_000);
    const again = new Position(APP, later.text());
    again.filled(since);

    assert.equal(first, undefined, 'there was nothing before');
    assert.equal(timeOf(since), NOW + 540_000);
    assert.deepEqual([later.since, again.since], [since, undefined]);
  });

  it('leaves no gap before the first session, but behind one of which nothing was stored (DISCORD-POSITION-3)', () => {
    const position = new Position(APP, undefined);
    const isNew = position.start(NOW);
    const killed = new Position(APP, position.text());

    position.begin(session('a'), NOW);
    killed.begin(session('b'), NOW + 60_000);
    const later = new Position(APP, position.text());

    assert.deepEqual([isNew, later.start(NOW)], [true, false]);
    assert.equal(position.since, undefined);
    assert.ok((timeOf(killed.since ?? '') ?? NOW) < NOW);
  });

  it('knows how far a gap is filled, and goes back for nothing (DISCORD-POSITION-5)', () => {
    const position = withGap();
    const since = position.since ?? '';
    for (const [channel, after] of [
      ['30', '2'],
      ['30', '1'],
      ['200', '5'],
      ['30', '9'],
    ] as const)
      position.reach({ since, channel, after });

    const together = new Position(APP, position.text({ reached: { since, channel: '200', after: '7' } }));
    position.reach({ since: snowflakeAt(NOW), channel: '999', after: '9' });

    assert.deepEqual(position.reached, { since, channel: '200', after: '5' }, 'that of another gap is nothing');
    assert.deepEqual(together.reached, { since, channel: '200', after: '7' });
    position.filled(since);
    assert.deepEqual([position.since, position.reached], [undefined, undefined]);
  });

  it('has another gap behind the one that was being filled when a session began (DISCORD-POSITION-6)', () => {
    const position = withGap();
    const since = position.since ?? '';
    position.reach({ since, channel: '30', after: '1' });
    position.saw(snowflakeAt(NOW + 900_000));
    position.begin(session('c'), NOW + 1_200_000);

    const read = new Position(APP, position.text());
    assert.deepEqual([read.since, read.reached?.channel], [since, '30']);
    read.filled(since);

    assert.deepEqual(
      [timeOf(read.since ?? ''), read.reached],
      [NOW + 840_000, undefined],
      'a minute before the newest that is stored',
    );
  });

  it('remembers who is at the other end of a private channel, the last hundred', () => {
    const position = new Position(APP, undefined);
    for (let n = 0; n < 101; n += 1) position.met(`channel-${n}`, `person-${n}`);

    const read = new Position(APP, position.text());

    assert.deepEqual(
      [read.privateChannels.length, read.personIn('channel-0'), read.personIn('channel-100')],
      [100, undefined, 'person-100'],
    );
  });

  it('takes nothing from another application, and nothing that is not its own (DISCORD-POSITION-4)', () => {
    const position = new Position(APP, undefined);
    position.begin(session('a'), NOW);

    const others = ['', 'x', '[]', '{"v":2}', position.text().replace(APP, '1'.repeat(18))].map(
      (cursor) => new Position(APP, cursor),
    );

    assert.deepEqual(
      others.map((one) => one.session),
      Array(5).fill(undefined),
    );
  });
});

/** Of a second session, ten minutes behind the first. */
function withGap(): Position {
  const position = new Position(APP, undefined);
  position.begin(session('a'), NOW);
  position.begin(session('b'), NOW + 600_000);
  return position;
}
