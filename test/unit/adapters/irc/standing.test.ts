// One account, several parts that may not work: each says so, and none takes back what another has said.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Standing } from '../../../../worker/adapters/irc/connection/standing.ts';

describe('how an account of IRC stands', () => {
  it('is degraded until every part of it works', () => {
    const said: string[] = [];
    const standing = new Standing({ online: () => said.push('online'), degraded: (reason) => said.push(reason) });

    standing.told('channels', undefined);
    standing.told('history', 'lines have not come');
    standing.told('channels', 'not in #a');
    standing.told('history', undefined);
    standing.told('channels', undefined);

    assert.deepEqual(said, ['online', 'lines have not come', 'lines have not come; not in #a', 'not in #a', 'online']);
  });
});
