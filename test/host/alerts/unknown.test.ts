// Figures that cannot be read: what fired by them goes on, nothing is told as over, and the host says what it does not know.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alertsHost } from '../../support/alerts/alerts-host.ts';

const MINUTE = 60_000;

describe('an alert whose figures cannot be read', () => {
  it('goes on, is not told as over, and resolves once they can be read again', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_inbox_dead', 1);
    made.set('svc_outbox_dead', 0);
    await made.host.advance(20 * MINUTE);
    made.lose('svc_inbox_dead', 'svc_outbox_dead');
    await made.host.advance(90 * MINUTE);

    assert.equal(made.told().length, 1, made.told().join('\n'));
    assert.deepEqual(made.alerts.firing(), { critical: 0, warning: 1 });
    assert.deepEqual(made.alerts.unknown, [{ name: 'SvcDeadLetters', figures: ['svc_inbox_dead', 'svc_outbox_dead'] }]);
    const said = made.host.logs.filter(({ message }) => /figures/.test(message));
    assert.deepEqual(
      said.map(({ level }) => level),
      ['warn'],
    );

    made.lose();
    made.set('svc_inbox_dead', 0);
    await made.host.advance(MINUTE);
    assert.deepEqual(made.alerts.unknown, []);
    await made.host.advance(6 * MINUTE);
    assert.match(made.told()[1] ?? '', /RESOLVED SvcDeadLetters/);
  });

  it('does not fire either', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_inbox_dead', 1);
    made.set('svc_outbox_dead', 0);
    await made.host.advance(5 * MINUTE);
    made.lose('svc_inbox_dead');
    await made.host.advance(60 * MINUTE);
    assert.deepEqual(made.told(), []);
    made.lose();
    made.set('svc_inbox_dead', 0);
    await made.host.advance(60 * MINUTE);
    assert.deepEqual(made.told(), []);
  });

  it('over a window goes on as well: a crash was not undone', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_restarts_total', 0, { reason: 'crashed' });
    await made.host.advance(20 * MINUTE);
    made.set('svc_restarts_total', 1, { reason: 'crashed' });
    await made.host.advance(2 * MINUTE);
    made.lose('svc_restarts_total');
    await made.host.advance(40 * MINUTE);
    assert.equal(made.told().length, 1);
    made.lose();
    await made.host.advance(10 * MINUTE);
    assert.match(made.told()[1] ?? '', /RESOLVED SvcCrashed/);
  });
});
