// A Debian that has Node and nothing else, and the commands of the guide for a daemon of one's own.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Engine } from '../../../../support/containers/engine.ts';
import { guideLines } from '../../../../support/deploy/guide-blocks.ts';
import { ToReady } from '../../../../support/deploy/to-ready.ts';
import { wordsOf } from '../../../../support/guide-commands.ts';
import { svc } from '../../../../support/svc-command.ts';

export interface DaemonSubject {
  readonly engine: Engine;
  readonly folder: string;
}

export function daemonCase(subject: () => DaemonSubject): void {
  it('becomes a daemon where a Debian has Node alone, by the commands of the guide', async (t) => {
    const { engine, folder } = subject();
    const machine = join(folder, 'machine');
    mkdirSync(machine);
    const toReady = new ToReady('daemon', 'a Debian with Node');
    const [init = '', enter, ...lines] = guideLines('run.md', 'daemon');
    const made = await toReady.typed([init, 'cd bot'], () => svc(wordsOf(init).slice(1), { cwd: machine }));
    assert.equal(made.code, 0, made.stderr);
    assert.equal(enter, 'cd bot');
    const mounted = `-v ${join(machine, 'bot')}:/srv/bot -w /srv/bot`;
    await engine.must(`podman run -d --init --name machine ${mounted} localhost/node:22-bookworm sleep infinity`);
    let said = '';
    for (const line of lines)
      said = await toReady.typed([line], () => engine.must(`podman exec machine sh -ec '${line}'`));
    toReady.tell(t);

    assert.match(said, /ready, running since/u);
    await engine.must("podman exec machine sh -ec 'npx svc runtime stop'");
    await engine.must('podman rm --force --time 0 machine');
  });
}
