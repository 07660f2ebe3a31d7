// A target that could be told nothing for a time: once it is back it is told of what holds by then, in one message.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countDead, readStoredFigures } from '../../../worker/metrics/stored-figures.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { ACCOUNT, type AlertsHost, type AlertsHostOptions, alertsHost } from '../../support/alerts/alerts-host.ts';
import { START_AT } from '../../support/hosts/engine-host.ts';

const MINUTE = 60_000;
const BOTH: AlertsHostOptions = {
  alerts: {
    notify: [
      { endpoint: 'memory~a', conversation: 'ops' },
      { endpoint: 'memory~b', conversation: 'pager' },
    ],
  },
};

async function goOffline({ host }: AlertsHost): Promise<void> {
  host.platform.down.set(ACCOUNT, new Error('no route'));
  host.platform.breaks.get(ACCOUNT)?.(new Error('no route'));
  await host.quiet();
}

async function comeBack({ host }: AlertsHost): Promise<void> {
  host.platform.down.clear();
  await host.advance(15 * MINUTE); // the longest wait between two tries to connect
}

const toldBy = ({ told }: AlertsHost, account: string): readonly string[] =>
  told().filter((line) => line.startsWith(account));

/** Severity and name of each alert that a message tells of first, and whether it is late. */
const heads = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${line.includes('LATE') ? 'LATE ' : ''}${/(CRITICAL|WARNING|TEST) \w+/.exec(line)?.[0]}`);

/** As the clock of a machine: each look at it finds it later. */
class RunningClock extends ManualClock {
  override now(): number {
    this.step(1);
    return super.now();
  }
}

/** The disk is full for seven minutes. */
async function fillDisk(made: AlertsHost): Promise<void> {
  made.set('svc_disk_min_free_bytes', 100);
  made.set('svc_disk_free_bytes', 1);
  await made.host.advance(7 * MINUTE);
  made.set('svc_disk_free_bytes', 1_000);
  await made.host.advance(7 * MINUTE);
}

describe('a target whose account was offline', () => {
  it('is told once what fires, and in a line what is over; the others were told in time', async (t) => {
    const made = await alertsHost(t, BOTH);
    made.set('svc_ready', 0);
    await made.host.advance(7 * MINUTE);
    await goOffline(made);
    made.set('svc_ready', 1);
    await made.host.advance(7 * MINUTE);
    await fillDisk(made);
    made.set('svc_checkpoint_age_seconds', 100_000);
    await made.host.advance(70 * MINUTE); // longer than changes are kept for flapping
    assert.equal(toldBy(made, 'a').length, 1);
    await comeBack(made);

    assert.deepEqual(
      toldBy(made, 'b').map((line) => /: (\w+ Svc\w+)/.exec(line)?.[1]),
      [
        'CRITICAL SvcNotReady',
        'RESOLVED SvcNotReady',
        'CRITICAL SvcDiskLow',
        'RESOLVED SvcDiskLow',
        'WARNING SvcCheckpointOld',
      ],
    );
    const [, late = '', ...more] = toldBy(made, 'a');
    assert.deepEqual(more, []);
    assert.match(late, /^a ops: LATE: nothing could be sent here for a time; project test\n/);
    assert.match(late, /\nRESOLVED meanwhile: SvcNotReady, SvcDiskLow\n\nWARNING SvcCheckpointOld: /);
    assert.deepEqual(await countDead(made.host.core.reader), { inbox: 0, outbox: 0 });
    assert.equal((await readStoredFigures(made.host.core, made.host.project.paths.database))?.outboxDead, 0);
    assert.equal(made.host.events('outbox.dropped').length, 3);
  });

  it('is told the same after restarts, and of an alert that went on all the time that it does', async (t) => {
    const first = await alertsHost(t, { alerts: { repeatHours: 1 } });
    first.set('svc_checkpoint_age_seconds', 100_000);
    await first.host.advance(20 * MINUTE);
    await goOffline(first);
    await fillDisk(first);
    const second = await first.restart();
    await second.host.advance(14 * MINUTE);
    const third = await second.restart();
    third.set('svc_ready', 0);
    await third.host.advance(40 * MINUTE); // past the time at which an alert is told again
    await comeBack(third);

    const [, late = '', ...more] = third.told();
    assert.deepEqual(more, []);
    assert.match(late, /RESOLVED meanwhile: SvcDiskLow\n\n/);
    assert.match(late, /\n\nCRITICAL SvcNotReady: [\s\S]*\n\nSTILL WARNING SvcCheckpointOld: /);
    third.set('svc_ready', 1);
    await third.host.advance(10 * MINUTE);
    assert.match(third.told()[2] ?? '', /^a ops: RESOLVED SvcNotReady/); // and the next one in time
  });

  it('is told in one line of what began and ended meanwhile', async (t) => {
    const made = await alertsHost(t);
    await goOffline(made);
    await fillDisk(made);
    await comeBack(made);

    assert.deepEqual(made.told(), [
      'a ops: LATE: nothing could be sent here for a time; project test\nRESOLVED meanwhile: SvcDiskLow',
    ]);
  });

  it('is told of each of its alerts where two targets are one conversation', async (t) => {
    const made = await alertsHost(t, {
      alerts: {
        notify: [
          { endpoint: 'memory~a', conversation: 'ops', severities: ['critical'] },
          { endpoint: 'memory~a', conversation: 'ops', severities: ['warning'] },
        ],
      },
    });
    await goOffline(made);
    made.set('svc_checkpoint_age_seconds', 100_000);
    await made.host.advance(20 * MINUTE);
    made.set('svc_ready', 0);
    await made.host.advance(7 * MINUTE);
    await comeBack(made);

    assert.deepEqual(
      made.told().map((line) => /\n\n(\w+ Svc\w+)/.exec(line)?.[1]),
      ['CRITICAL SvcNotReady', 'WARNING SvcCheckpointOld'],
    );
  });

  it('is told of what the message that a newer one replaces told first, on a clock that runs', async (t) => {
    const made = await alertsHost(t, { clock: new RunningClock(START_AT) });
    await goOffline(made);
    made.set('svc_ready', 0);
    await made.host.advance(8 * MINUTE);
    made.set('svc_checkpoint_age_seconds', 100_000);
    await made.host.advance(20 * MINUTE);
    await comeBack(made);

    assert.equal(made.told().length, 1);
    assert.match(made.told()[0] ?? '', /LATE[\s\S]*CRITICAL SvcNotReady[\s\S]*WARNING SvcCheckpointOld/);
  });

  it('is told what waits for it, though another target carries that by now', async (t) => {
    const first = await alertsHost(t);
    await goOffline(first);
    first.set('svc_ready', 0);
    await first.host.advance(7 * MINUTE);
    const next = await first.restart({
      alerts: {
        notify: [
          { endpoint: 'memory~a', conversation: 'ops', severities: ['warning'] },
          { endpoint: 'memory~b', conversation: 'pager', severities: ['critical'] },
        ],
      },
    });
    next.set('svc_checkpoint_age_seconds', 100_000);
    await next.host.advance(20 * MINUTE);
    await comeBack(next);

    assert.deepEqual(heads(next.told()), ['CRITICAL SvcNotReady', 'WARNING SvcCheckpointOld']);
  });

  it('is told of each alert where the clock was set back meanwhile', async (t) => {
    const made = await alertsHost(t);
    await goOffline(made);
    made.set('svc_ready', 0);
    await made.host.advance(7 * MINUTE);
    made.host.clock.step(-30 * MINUTE);
    await made.host.advance(2 * MINUTE);
    made.set('svc_disk_min_free_bytes', 100);
    made.set('svc_disk_free_bytes', 1);
    await made.host.advance(7 * MINUTE);
    assert.equal(made.host.states('outbox').length, 2);
    await made.host.advance(40 * MINUTE); // past the time of the first message
    made.set('svc_checkpoint_age_seconds', 100_000);
    await made.host.advance(20 * MINUTE);
    await comeBack(made);

    assert.deepEqual(heads(made.told()), ['CRITICAL SvcNotReady', 'LATE CRITICAL SvcDiskLow']);
    assert.match(made.told()[1] ?? '', /WARNING SvcCheckpointOld/);
  });

  it('gets a test message that waits, and in time the alert behind it', async (t) => {
    const made = await alertsHost(t);
    await goOffline(made);
    await made.alerts.test('ann', undefined, () => []);
    made.set('svc_ready', 0);
    await made.host.advance(7 * MINUTE);
    await comeBack(made);

    assert.deepEqual(heads(made.told()), ['TEST of', 'CRITICAL SvcNotReady']);
  });
});

describe('a target whose platform fails for a time', () => {
  it('gets what was tried, which it may have shown, and then once what holds by then', async (t) => {
    const made = await alertsHost(t);
    made.host.platform.answer = () => Promise.reject(new Error('502'));
    await fillDisk(made);
    made.set('svc_ready', 0);
    await made.host.advance(6 * MINUTE);
    made.host.platform.answer = undefined;
    made.set('svc_checkpoint_age_seconds', 100_000);
    await made.host.advance(60 * MINUTE);

    const [tried = '', late = '', ...more] = made.told();
    assert.match(tried, /^a ops: CRITICAL SvcDiskLow/);
    assert.match(late, /LATE[\s\S]*RESOLVED meanwhile: SvcDiskLow\n\nCRITICAL SvcNotReady/);
    assert.equal([late, ...more].join('\n').split('WARNING SvcCheckpointOld').length, 2);
    assert.ok(more.length <= 1, more.join('\n'));
  });
});
