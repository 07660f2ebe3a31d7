// `svc workroom erase` on a running host.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commands } from '../../../supervisor/cli/commands/workroom/change.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { createHostClient } from '../../support/hosts/app-client.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';

describe('svc workroom erase', () => {
  it('says how much it erased, and takes an item or a member', async (t) => {
    const host = await running(t, { config: { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: {} } });
    for (const command of [
      { kind: 'board.add', board: 'web', name: 'Web site' },
      { kind: 'new', board: 'web', title: 'Home page', text: 'The new one' },
    ])
      assert.equal((await host.call('POST', '/api/workroom/commands', command)).status, 200);
    const svc = async (args: readonly string[], options: Readonly<Record<string, unknown>> = {}) => {
      const captured = capturedContext('http://127.0.0.1:1');
      const command = commands.find(({ verb }) => verb === 'erase');
      const code = await command?.run({ ...captured, host: async () => createHostClient(host) }, args, options);
      return { code, out: captured.out.join('\n') };
    };

    assert.deepEqual(await svc(['web-1']), {
      code: 0,
      out: 'the words of 1 events in 1 streams are erased; backups and exports keep theirs',
    });
    assert.deepEqual(await svc(['web-1']), { code: 0, out: 'there were no words to erase' });
    await assert.rejects(svc([]), /name an item, or a member with --member/);
    await assert.rejects(svc(['web-1'], { member: 'ann' }), /name an item, or a member/);
    await assert.rejects(svc([], { member: 'ann' }), /there is no member ann/);
  });
});
