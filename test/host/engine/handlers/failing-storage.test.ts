// The storage takes a claim and then nothing more: the attempt ended through no fault of the handler, and is not one of those that are
// bounded. One that the end of the process cut is.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../../shared/svc-error.ts';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const TRIES = 12;

/** The first handler answers before the second does. */
function twoHandlers() {
  const ran: string[] = [];
  const plugin = definePlugin({
    name: 'two',
    setup(p) {
      for (const name of ['first', 'second'])
        p.on('message', { name }, () => {
          ran.push(name);
          return name;
        });
    },
  });
  return { plugin, ran };
}

/** From the `passes`-th on, what handlers decide is not stored until `mend`. */
function breakStorage(host: EngineHost, passes = 0): { mend(): void } {
  const { writer } = host.core;
  const commit = writer.commit.bind(writer);
  let seen = 0;
  writer.commit = (unit) => {
    if (unit.name !== 'inbox.handled' || (seen += 1) <= passes) return commit(unit);
    return Promise.reject(new SvcError('storage_unavailable', 'database or disk is full (SQLITE_FULL)'));
  };
  return {
    mend: () => {
      writer.commit = commit;
    },
  };
}

async function tryOften(host: EngineHost): Promise<void> {
  for (let n = 0; n < TRIES; n += 1) await host.advance(1_000);
}

const item = (host: EngineHost) => host.rows('SELECT state, attempts, last_error FROM inbox')[0];

/** Nothing is set aside: it runs again at once. */
const config = { inbox: { quarantineSeconds: 0 } };
const started = (test: TestContext, plugin: unknown): Promise<EngineHost> =>
  engineHost(test, { modules: { two: plugin }, config });

describe('an attempt whose outcome the storage does not take', () => {
  it('does not count, however often it is tried', async (t) => {
    const { plugin, ran } = twoHandlers();
    const host = await started(t, plugin);
    const storage = breakStorage(host);
    await host.platform.says('hi');
    await tryOften(host);
    assert.ok(ran.length >= TRIES, `${ran.length} runs`);
    assert.deepEqual(item(host), { state: 'handling', attempts: 1, last_error: null });

    storage.mend();
    await host.advance(2_000);

    assert.deepEqual(item(host), { state: 'done', attempts: 1, last_error: null });
    assert.deepEqual(host.platform.said('dm-ann'), ['first', 'second']);
  });

  it('runs no handler again whose own unit was stored (HANDLE-ITEM-1)', async (t) => {
    const { plugin, ran } = twoHandlers();
    const host = await started(t, plugin);
    const storage = breakStorage(host, 1);
    await host.platform.says('hi');
    await tryOften(host);
    storage.mend();
    await host.advance(2_000);

    assert.equal(ran.filter((name) => name === 'first').length, 1);
    assert.deepEqual(host.platform.said('dm-ann'), ['first', 'second']);
    assert.deepEqual(item(host), { state: 'done', attempts: 1, last_error: null });
  });

  it('counts once a process that ends meanwhile, and at the bound the item is a dead letter', async (t) => {
    const { plugin, ran } = twoHandlers();
    const modules = { two: plugin };
    let host = await started(t, plugin);
    breakStorage(host);
    await host.platform.says('hi');
    for (let process = 1; process <= 5; process += 1) {
      ran.length = 0;
      await tryOften(host);
      assert.ok(ran.length >= TRIES - 1, `${ran.length} runs`);
      assert.equal(item(host)?.['attempts'], process);

      host.kill();
      const { project, platform, clock } = host;
      host = new EngineHost(project, { modules, platform, clock, config });
      if (process < 5) breakStorage(host);
      await host.start();
    }
    t.after(() => host.stop());
    await host.advance(60_000);

    assert.equal(item(host)?.['state'], 'dead');
    assert.match(String(item(host)?.['last_error']), /ended the process or was cut 5 times/);
  });
});

describe('an attempt that meets a storage that fails while the handler runs', () => {
  const calls: string[] = [];
  const counter = definePlugin({
    name: 'counter',
    setup(p) {
      const seen = p.state('seen', { scope: 'conversation', value: t.integer() });
      p.on('message', {}, async (ctx, { text }) => {
        const asked = async (): Promise<number> => {
          const count = (await ctx.get(seen)) ?? 0;
          await ctx.once('call', ({ key }) => calls.push(key));
          return count;
        };
        const count = await (text === 'wrapped' ? asked().catch(fail) : asked());
        ctx.set(seen, count + 1);
        return `${text} ${count}`;
      });
    },
  });
  const fail = (cause: unknown): never => {
    throw new Error('no count', { cause });
  };
  const unreadable = (): Promise<never> =>
    Promise.reject(new SvcError('storage_unavailable', 'the database cannot be read (SQLITE_IOERR)'));
  const full = (): Promise<never> => Promise.reject(new SvcError('storage_unavailable', 'database or disk is full'));

  const FAULTS: Readonly<Record<string, (host: EngineHost) => () => void>> = {
    'of ctx.get': (host) => {
      const { reader } = host.core;
      const first = reader.first.bind(reader);
      reader.first = (query) => (query.compile().sql.includes('"cells"') ? unreadable() : first(query));
      return () => void (reader.first = first);
    },
    'of ctx.once': (host) => {
      const { writer } = host.core;
      const commit = writer.commit.bind(writer);
      writer.commit = (unit) => (unit.name === 'once.kept' ? full() : commit(unit));
      return () => void (writer.commit = commit);
    },
  };

  for (const [name, breakIt] of Object.entries(FAULTS))
    for (const text of ['plain', 'wrapped'])
      it(`${name} does not count, however often it is tried (${text})`, async (test) => {
        const host = await started(test, counter);
        const mend = breakIt(host);
        await host.platform.says(text);
        await tryOften(host);
        const during = item(host);
        const failures = host.events('plugin.failed').length + host.events('inbox.waiting').length;

        mend();
        await host.advance(2_000);

        assert.deepEqual([during, failures], [{ state: 'handling', attempts: 1, last_error: null }, 0]);
        assert.deepEqual(item(host), { state: 'done', attempts: 1, last_error: null });
        assert.deepEqual(host.platform.said('dm-ann'), [`${text} 0`]);
      });

  it('counts what a plugin throws itself, whatever its code says', async (test) => {
    const own = definePlugin({
      name: 'own',
      setup: (p) =>
        p.on('message', {}, () => {
          throw Object.assign(new Error('my disk'), { code: 'storage_unavailable' });
        }),
    });
    const host = await started(test, own);
    await host.platform.says('hi');
    await host.advance(600_000);

    assert.equal(item(host)?.['state'], 'dead');
    assert.equal(item(host)?.['last_error'], 'my disk');
  });
});
