// Dead sends to somebody who is no longer there expire. Every other dead letter stays.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expireGone } from '../../../../worker/outbox/expire-gone.ts';
import { createOutboxAdmin } from '../../../../worker/outbox/outbox-admin.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { copyDeadSends } from '../../../support/hosts/dead-items.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const DAY = 86_400_000;
const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, (_ctx, { text }) => text) });

describe('a dead send to somebody who is no longer there', () => {
  it('is dropped after its days, with an event; one that was refused for another reason stays', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = (call) => ({
      kind: 'refused',
      reason: 'no',
      ...('text' in call && call.text === 'bye' ? { gone: true } : {}),
    });
    for (const text of ['bye', 'hello']) await host.platform.says(text, { from: text });
    await host.quiet();
    await copyDeadSends(host, 700, 'recipient_gone');
    const outbox = createOutboxAdmin({ core: host.core, sender: host.engine.sender });
    const pass = () => expireGone(host.core, outbox, { now: host.clock.now(), days: 7 });
    const left = () =>
      host.rows(
        "SELECT code, COUNT(*) AS n FROM outbox WHERE state = 'dead' AND is_dropped = 0 GROUP BY code ORDER BY code",
      );
    await host.advance(6 * DAY);

    await pass();
    const early = left();
    await host.advance(DAY);
    await pass();

    assert.deepEqual(early, [
      { code: 'platform_refused', n: 1 },
      { code: 'recipient_gone', n: 701 },
    ]);
    assert.deepEqual(left(), [{ code: 'platform_refused', n: 1 }]);
    const [event] = host.events('outbox.dropped');
    assert.equal(host.events('outbox.dropped').length, 701);
    assert.equal(event?.data['reason'], 'the recipient was gone, expired after 7 days');
  });
});
