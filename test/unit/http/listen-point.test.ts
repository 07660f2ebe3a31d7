// Two hosts that start in the same moment on one port.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tryTurn } from '../../../shared/process/port-turn.ts';
import { ListenPoint } from '../../../worker/http/server/listen-point.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

describe('ListenPoint', () => {
  it('says what it waits for, then has its turn (LISTEN-1)', {
    skip: process.platform !== 'linux' && 'turns are of Linux',
  }, async () => {
    const port = await freePort();
    const endTurn = await tryTurn(port);
    const said: string[] = [];
    const point = new ListenPoint({ host: '127.0.0.1', port }, (message) => said.push(message));

    const bound = point.bind();
    await until(() => said.length > 0, { what: 'what it waits for' });
    endTurn?.();
    await bound;

    assert.match(said.join(), new RegExp(`^another host is about to listen on port ${port}: waiting for it`));
    assert.equal(await tryTurn(port), undefined, 'the turn is its own now');
    point.close();
  });
});
