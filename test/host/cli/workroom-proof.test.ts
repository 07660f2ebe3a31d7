// `svc workroom export` and `verify --file`: what an export does not show is named.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { commands } from '../../../supervisor/cli/commands/workroom/prove.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { createHostClient } from '../../support/hosts/app-client.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

type Line = Readonly<Record<string, unknown>>;

/** A journal of four events: two boards, and an item with a comment on the first. */
async function exporting(t: TestContext, board?: string) {
  const host = await running(t, { config: { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: {} } });
  for (const command of [
    { kind: 'board.add', board: 'ops', name: 'Operations' },
    { kind: 'board.add', board: 'web', name: 'Web site' },
    { kind: 'new', board: 'web', title: 'Home page' },
    { kind: 'comment', item: 'web-1', text: 'not to be seen' },
  ])
    assert.equal((await host.call('POST', '/api/workroom/commands', command)).status, 200);
  const file = join(temporaryProject(t).path, 'journal.ndjson');
  const svc = async (verb: string, options: Readonly<Record<string, unknown>>) => {
    const captured = capturedContext('http://127.0.0.1:1');
    const command = commands.find((one) => one.verb === verb);
    const code = await command?.run({ ...captured, host: async () => createHostClient(host) }, [], options);
    return { code, out: captured.out.join('\n') };
  };
  await svc('export', { to: file, ...(board === undefined ? {} : { board }) });
  return {
    verify: () => svc('verify', { file }),
    /** Leaves the digest of an event alone. */
    hide(hidden: number): void {
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      const changed = lines.map((line) => {
        const { seq, digest, hash } = JSON.parse(line) as Line;
        return seq === hidden ? JSON.stringify({ seq, digest, hash }) : line;
      });
      writeFileSync(file, `${changed.join('\n')}\n`);
    },
  };
}

describe('svc workroom verify --file', () => {
  it('takes an export of the whole journal, and none in which an event is hidden', async (t) => {
    const { verify, hide } = await exporting(t);
    const whole = await verify();
    hide(4);
    const without = await verify();

    assert.equal(whole.code, 0);
    assert.match(whole.out, /^4 events hold, up to 4:[0-9a-f]{64}$/);
    assert.equal(without.code, 1);
    assert.match(without.out, /^4 .*hidden$/m);
    assert.match(without.out, /of 1 events only the digest is there, .* the last event among them: 4$/);
  });

  it('names the events of which an export of one board has only the digest, the last one of a stream too', async (t) => {
    const { verify, hide } = await exporting(t, 'web');
    const ofBoard = await verify();
    hide(4);
    const without = await verify();

    assert.deepEqual([ofBoard.code, without.code], [0, 0]);
    assert.match(ofBoard.out, /\nof 1 events only the digest is there, so what they say is not known: 1$/);
    assert.match(
      without.out,
      /\nof 2 events only the digest is there, so what they say is not known, the last event among them: 1, 4$/,
    );
  });
});
