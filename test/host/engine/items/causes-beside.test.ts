// Dead letters by cause while the host is down or does not answer: the command changes the database itself.
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../../shared/time/clock.ts';
import { takeAuthority } from '../../../../worker/database/authority.ts';
import { outsideWriter } from '../../../../worker/database/outside-writer.ts';
import { SqliteReader } from '../../../../worker/database/reader.ts';
import { openReadOnly } from '../../../../worker/database/sqlite/connection.ts';
import { openStoredItems } from '../../../../worker/host/stored-items.ts';
import { createInboxAdmin } from '../../../../worker/inbox/inbox-admin.ts';
import { definePlugin, giveUp } from '../../../../worker/sdk/index.ts';
import { copyDead } from '../../../support/hosts/dead-items.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

async function withDead(t: TestContext, count: number) {
  const works = { yes: false };
  const tool = definePlugin({
    name: 'tool',
    setup(p) {
      p.on('message', {}, (_ctx, { text }) => {
        if (text === 'die' && !works.yes) throw giveUp('no');
        return `did ${text}`;
      });
    },
  });
  const host = await engineHost(t, { modules: { tool } });
  await host.platform.says('die');
  await host.quiet();
  await copyDead(host, count, { code: 'handler_failed', handler: 'root/tool#on/message' });
  works.yes = true;
  return host;
}

const posts = (host: EngineHost): number => host.platform.calls.filter(({ call }) => call.kind === 'post').length;

describe('dead letters by cause of a host that is down', () => {
  it('are grouped, replayed and dropped in its database, and the next start handles what was replayed', async (t) => {
    const host = await withDead(t, 699);
    await copyDead(host, 3, { code: 'unparsable' });
    await host.stop();
    host.close();
    chmodSync(host.project.paths.stateDir, 0o700);
    const { path: project, env: environment } = host.project;
    const items = openStoredItems({ project, environment });
    assert.ok(items !== undefined);

    const { groups } = await items.groups('inbox', 'dead');
    const upTo = new Date().toISOString();
    const selection = { state: 'dead', code: 'handler_failed', upTo } as const;
    const first = await items.changeMany('inbox', selection, { action: 'replay' });
    const second = await items.changeMany('inbox', { ...selection, after: first.next }, { action: 'replay' });
    const dropped = await items.changeMany('inbox', { state: 'dead', upTo }, { action: 'drop', reason: 'old' });

    assert.deepEqual(
      groups.map(({ code, count }) => [code, count]),
      [
        ['handler_failed', 700],
        ['unparsable', 3],
      ],
    );
    assert.deepEqual(
      [first.done, first.left, second, dropped],
      [500, 200, { done: 200, left: 0, skipped: 0 }, { done: 3, left: 0, skipped: 0 }],
    );
    const before = posts(host);
    const next = await host.restart(t);
    await next.quiet();
    assert.equal(posts(next) - before, 700);
    assert.deepEqual([...new Set(next.states('inbox'))], ['done']);
  });
});

describe('dead letters by cause that were replayed beside a worker', () => {
  it('are all counted and handled once it answers again', async (t) => {
    const host = await withDead(t, 1_200);
    await host.core.writer.commit({ name: 'test', statements: [takeAuthority()] }); // as a start does
    await host.engine.outside.load();
    const file = host.project.paths.database;
    const reader = new SqliteReader(() => openReadOnly(file));
    t.after(() => reader.close());
    const writer = await outsideWriter({ file, reader, isAlone: false });
    const nothing = (): void => {};
    const core = { ...host.core, clock: systemClock, reader, writer, runtimeId: 'other' as typeof host.core.runtimeId };
    const admin = createInboxAdmin({
      core,
      inbox: { release: nothing, returned: nothing },
      dispatcher: { dropped: nothing, reread: nothing },
    });
    const caller = { scope: 'full', actor: 'offline', requestId: 'r' } as const;
    const upTo = new Date().toISOString();
    const before = posts(host);

    for (let after: string | undefined, isOver = false; !isOver; ) {
      const page = await admin.replayMany({ state: 'dead', upTo, after }, { caller, answer: undefined });
      after = page.next;
      isOver = after === undefined;
    }
    await host.engine.outside.look();
    await host.quiet();

    assert.equal(posts(host) - before, 1_201);
    assert.equal(host.engine.inbox.pending.items, 0);
  });
});
