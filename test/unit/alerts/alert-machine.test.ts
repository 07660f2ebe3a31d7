// The life of an alert and what is told of it, minute by minute.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SetRule } from '../../../shared/alerts/alert-machine.ts';
import { AlertLife } from '../../support/alerts/alert-life.ts';

const rule = (name: string, minutes = 0, mutes?: string): SetRule => ({
  name,
  severity: mutes === undefined ? 'warning' : 'critical',
  forMs: minutes * 60_000,
  mutes,
});
const life = (minutes = 0, more: object = {}) => new AlertLife({ rules: [rule('A', minutes)], ...more });
const told = (of: AlertLife, marks: string) => of.run('A', marks).lines();

describe('an alert', () => {
  it('fires once its rule was true for long enough without a break', () => {
    assert.deepEqual(told(life(0), '01'), ['1 fired A']);
    assert.deepEqual(told(life(3), '111'), []);
    assert.deepEqual(told(life(3), '1111'), ['3 fired A']);
    assert.deepEqual(told(life(3), '1101111'), ['6 fired A']);
  });

  it('resolves after five quiet minutes, and not in between', () => {
    assert.deepEqual(told(life(), '100000'), ['0 fired A']);
    assert.deepEqual(told(life(), '1000000'), ['0 fired A', '6 resolved A']);
    assert.deepEqual(told(life(), '100001000000'), ['0 fired A', '11 resolved A']);
  });

  it('neither fires nor resolves while its rule is unknown', () => {
    assert.deepEqual(told(life(3), '11??'), []);
    assert.deepEqual(told(life(3), '11??1'), ['4 fired A']);
    assert.deepEqual(told(life(), `1${'?'.repeat(30)}`), ['0 fired A']);
    assert.deepEqual(told(life(), '1000??0000'), ['0 fired A']);
    assert.deepEqual(told(life(), '1000??000000'), ['0 fired A', '11 resolved A']);
  });

  it('that fires goes on while it is held, one that is pending ends', () => {
    assert.deepEqual(told(life(), `1${'h'.repeat(30)}1`), ['0 fired A']);
    assert.deepEqual(told(life(3), '11h111'), []);
  });

  it('is told again every four hours while it fires', () => {
    assert.deepEqual(told(life(), '1'.repeat(500)), ['0 fired A', '240 still A', '480 still A']);
  });

  it('is remembered for a week after its end: somebody may have missed it', () => {
    const of = life();
    of.run('A', '1000000');
    of.now += 6 * 86_400_000;
    of.run('A', '0');
    assert.equal(of.alerts.get('A')?.phase, 'resolved');
    of.now += 86_400_000;
    of.run('A', '0');
    assert.equal(of.alerts.size, 0);
  });

  it('whose rule was switched off is gone, and nothing is told of it', () => {
    const of = life();
    of.run('A', '1');
    const without = new AlertLife({ rules: [] });
    without.alerts = of.alerts;
    without.step({});
    assert.deepEqual([without.alerts.size, without.told], [0, []]);
  });

  it('takes the severity of the settings at once', () => {
    const of = life();
    of.run('A', '1');
    const critical = new AlertLife({ rules: [{ ...rule('A'), severity: 'critical' }] });
    critical.alerts = of.alerts;
    critical.run('A', '1');
    assert.equal(critical.alerts.get('A')?.severity, 'critical');
  });
});

describe('a restart', () => {
  it('tells nothing twice and forgets no `for`', () => {
    const of = life(3);
    of.run('A', '11').restart();
    of.run('A', '11').restart();
    of.run('A', '1111').restart();
    assert.deepEqual(of.run('A', '???0000000').lines(), ['3 fired A', '16 resolved A']);
  });

  it('gives what was pending some time to be over', () => {
    const of = life(3);
    of.run('A', '11');
    of.now += 3_600_000;
    of.restart(120_000);
    assert.deepEqual(of.run('A', '10').lines(), []);
    const other = life(3);
    other.run('A', '11');
    other.now += 3_600_000;
    other.restart(120_000);
    assert.deepEqual(other.run('A', '1111').lines(), ['64 fired A']);
  });
});

describe('changes of an alert', () => {
  const CYCLE = '1000000'; // fires, and resolves six minutes later

  it('are told as flapping once from the fourth within an hour, until an hour is quiet', () => {
    const of = life();
    assert.deepEqual(told(of, CYCLE.repeat(4)), ['0 fired A', '6 resolved A', '7 fired A', '13 flapping A']);
    assert.deepEqual(told(of, '0'.repeat(70)).slice(4), ['87 resolved A']); // an hour after the last change, at minute 27
  });

  it('end as an alert that fires, if it does after that hour', () => {
    const of = life();
    of.run('A', CYCLE.repeat(2));
    assert.deepEqual(told(of, '1'.repeat(300)).slice(3), ['13 flapping A', '253 still A']);
  });

  it('that are fewer are told one by one', () => {
    const of = life();
    assert.deepEqual(told(of, `${CYCLE}${'0'.repeat(60)}`.repeat(2)), [
      '0 fired A',
      '6 resolved A',
      '67 fired A',
      '73 resolved A',
    ]);
  });

  it('within a minute go out together', () => {
    const of = new AlertLife({ rules: [rule('A'), rule('B'), rule('C')], stepMs: 30_000 });
    of.step({ A: '1', B: '0', C: '1' });
    of.step({ A: '1', B: '1', C: '1' });
    of.step({ A: '1', B: '1', C: '1' });
    assert.deepEqual(of.lines(), ['0 fired A', '0 fired C', '1 fired B']);
  });
});

describe('a critical alert', () => {
  const both = () => new AlertLife({ rules: [rule('A', 2), rule('Loop', 0, 'A')] });

  it('mutes its warning, which is told as the critical one resolves', () => {
    const of = both();
    for (let n = 0; n < 5; n += 1) of.step({ A: '1', Loop: '1' });
    for (let n = 0; n < 8; n += 1) of.step({ A: '1', Loop: '0' });
    assert.deepEqual(of.lines(), ['0 fired Loop', '10 fired A', '10 resolved Loop']);
  });

  it('leaves a warning that was told to be told as resolved', () => {
    const of = both();
    for (let n = 0; n < 4; n += 1) of.step({ A: '1', Loop: '0' });
    for (let n = 0; n < 4; n += 1) of.step({ A: '1', Loop: '1' });
    for (let n = 0; n < 8; n += 1) of.step({ A: '0', Loop: '0' });
    assert.deepEqual(of.lines(), ['2 fired A', '4 fired Loop', '13 resolved A', '13 resolved Loop']);
  });
});

describe('a silence', () => {
  const until = (minute: number) => life(0, { isSilenced: (_: unknown, now: number) => now < minute * 60_000 });

  it('keeps an alert untold, and what still fires after it is told', () => {
    assert.deepEqual(told(until(10), '1'.repeat(12)), ['10 fired A']);
    assert.deepEqual(told(until(20), '1000000000000'), []);
  });

  it('after which an alert still fires that was told before it tells nothing again', () => {
    const of = life(0, { isSilenced: (_: unknown, now: number) => now >= 2 * 60_000 && now < 10 * 60_000 });
    assert.deepEqual(told(of, '1'.repeat(30)), ['0 fired A']);
  });

  it('swallows the end of an alert that was told before', () => {
    const of = life(0, { isSilenced: (_: unknown, now: number) => now > 60_000 });
    assert.deepEqual(told(of, `1${'0'.repeat(90)}`), ['0 fired A']);
    assert.equal(of.alerts.get('A')?.told, null);
  });
});
