// What commands print of a project whose secrets are easy to find again: nothing of them, though a plugin prints its own, and platforms say back all
// that they hear.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertNoCanary, haveMetTheirPlatforms, leakyHost } from '../../support/hosts/canaries.ts';
import type { RunningHost } from '../../support/hosts/running-host.ts';
import { svc } from '../../support/svc-command.ts';

const COMMANDS = [
  'config show',
  'config check',
  'doctor',
  'runtime status',
  'runtime logs -n 1000',
  'endpoints list',
  'inbox list',
  'events tail --no-follow',
  'webhooks url',
  'plugins list',
];

it('secrets are in nothing that commands print', async (t) => {
  const host = await leakyHost(t);
  await haveMetTheirPlatforms(host);

  const said = await printed(host);

  for (const [where, content] of said) assertNoCanary(where, content, host);
  const told = Object.fromEntries(said);
  assert.match(told['svc config check'] ?? '', /printed \[secret\]/, 'the plugin was loaded');
  assert.match(told['svc endpoints list'] ?? '', /\[secret\]/, 'an error that quotes a secret is shown');
});

async function printed(host: RunningHost): Promise<(readonly [string, string])[]> {
  return Promise.all(
    COMMANDS.map(async (command) => {
      const { stdout, stderr } = await svc(command.split(' '), { cwd: host.project.path });
      assert.notEqual(stdout + stderr, '', command);
      return [`svc ${command}`, stdout + stderr] as const;
    }),
  );
}
