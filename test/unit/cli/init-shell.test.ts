import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FirstProcess, wantsInitShell } from '../../../supervisor/cli/start/init-shell.ts';

const CONTAINER: FirstProcess = {
  pid: 1,
  argv: ['node', '/app/cli.js', 'runtime', 'start', '--mode', 'production'],
  environment: { PATH: '/bin', HTTP_TOKEN: 'x', _: '/bin/node' },
  terminal: false,
};
const wants = (changes: Partial<FirstProcess> = {}): boolean => wantsInitShell({ ...CONTAINER, ...changes });

describe('a start in a container', () => {
  it('makes way for a shell where it is the first process', () => {
    assert.equal(wants(), true);
    assert.equal(wants({ pid: 7 }), false);
    assert.equal(wants({ argv: ['node', '/app/cli.js', 'runtime', 'status'] }), false);
  });

  it('stays on a terminal, whose Ctrl-C both would have', () => {
    assert.equal(wants({ terminal: true }), false);
  });

  it('stays where an owner has named this very process for a socket or a watchdog', () => {
    for (const name of ['LISTEN_PID', 'WATCHDOG_PID'])
      assert.equal(wants({ environment: { ...CONTAINER.environment, [name]: '1' } }), false, name);
  });

  it('stays where a shell would drop a variable', () => {
    for (const name of ['a.b', 'a-b', '1a', 'BASH_FUNC_f%%'])
      assert.equal(wants({ environment: { ...CONTAINER.environment, [name]: 'x' } }), false, name);
  });
});
