// What the log says of deliveries that are refused, however many come.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { RefusalLog } from '../../../worker/ingress/refusal-log.ts';

it('says once a minute for each account that deliveries are refused, and how many it left out', () => {
  let now = 1_000_000;
  const lines: object[] = [];
  const log = { warn: (fields: object) => void lines.push(fields) };
  const refusals = new RefusalLog({ clock: { now: () => now }, log } as never);

  for (let n = 0; n < 1_000; n += 1) refusals.refused('shop', 'no signature');
  refusals.refused('desk', 'x'.repeat(5_000));
  now += 60_000;
  refusals.refused('shop', 'another secret');
  now -= 3_600_000;
  refusals.refused('shop', 'the clock was set back');
  refusals.refused('mute', undefined);

  for (let n = 0; n < 3; n += 1) refusals.rejected('shop', new SvcError('inbox_full', 'too much waits'));

  for (let n = 0; n < 3; n += 1) refusals.notUnderstood('shop', 'conversation is missing');
  assert.deepEqual(lines.splice(6), [{ endpoint: 'shop', fault: 'conversation is missing', unsaid: 0 }]);
  assert.deepEqual(lines.splice(5), [{ endpoint: 'shop', code: 'inbox_full', reason: 'too much waits', unsaid: 0 }]);
  assert.deepEqual(lines, [
    { endpoint: 'shop', reason: 'no signature', unsaid: 0 },
    { endpoint: 'desk', reason: 'x'.repeat(200), unsaid: 0 },
    { endpoint: 'shop', reason: 'another secret', unsaid: 999 },
    { endpoint: 'shop', reason: 'the clock was set back', unsaid: 0 },
    { endpoint: 'mute', reason: '', unsaid: 0 },
  ]);
});

it('says once a minute that tokens are refused, whoever sent them, and how many it left out', () => {
  let now = 1_000_000;
  const lines: object[] = [];
  const refusals = new RefusalLog({
    clock: { now: () => now },
    log: { warn: (fields: object) => void lines.push(fields) },
  } as never);
  const request = { route: '/api/events', status: 401, requestId: 'r' };

  for (let n = 0; n < 1_000; n += 1) refusals.token({ ...request, address: `192.0.2.${n % 256}` });
  now += 60_000;
  refusals.token({ ...request, address: '192.0.2.7' });

  assert.deepEqual(lines, [
    { ...request, address: '192.0.2.0', unsaid: 0 },
    { ...request, address: '192.0.2.7', unsaid: 999 },
  ]);
});
