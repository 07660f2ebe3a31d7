// Accounts whose handlers hang, in as many conversations as they are let: what comes for another account, and what the host has to do by itself, is
// handled all the same.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const idOf = (account: string): string => `root/memory:memory~${account}`;
/** More than one account may have at once, by default. */
const FLOOD = 140;
const CALM = 5;

describe('handlers that hang', () => {
  for (const count of [1, 2, 8])
    it(`of ${count === 1 ? 'one account' : `${count} accounts`} hold up nobody else`, async (t) => {
      const loud = Array.from({ length: count }, (_, n) => `loud${n}`);
      const { host, hanging, heard } = await hostOf(t, loud);

      for (const account of loud) await writes(host, { account, text: 'hang', people: FLOOD });
      await host.quiet();
      assert.ok(hanging.length >= 128, 'they do not hang');
      await writes(host, { account: 'calm', text: 'remind me', people: CALM });
      await host.quiet();
      assert.equal(heard.filter((one) => one === idOf('calm')).length, CALM);
      await host.advance(1_000);

      assert.equal(heard.filter((one) => one === 'due').length, CALM);
      assert.ok(hanging.length <= 256, `${hanging.length} at once`);
    });

  it('leave another account its place also where there are no more places than accounts and tasks', async (t) => {
    const loud = Array.from({ length: 8 }, (_, n) => `loud${n}`);
    const { host, hanging, heard } = await hostOf(t, loud, { concurrency: 10 });

    for (const account of loud) await writes(host, { account, text: 'hang', people: 4 });
    await host.quiet();
    await writes(host, { account: 'calm', text: 'hello', people: CALM });
    await host.quiet();

    assert.equal(hanging.length, 8);
    assert.equal(heard.length, CALM);
  });

  it('of accounts that a reload has removed leave those that came in their place no part beside that of the others', async (t) => {
    const inbox = { concurrency: 12 };
    const { host, hanging, heard } = await hostOf(t, ['loud0'], inbox);

    for (const n of [0, 1, 2]) {
      if (n > 0) {
        host.configure({ inbox, plugins: accountsOf([`loud${n}`]) });
        await host.engine.runtime.reload('test');
      }
      await writes(host, { account: `loud${n}`, text: 'hang', people: 12 });
      await host.quiet();
    }
    await writes(host, { account: 'calm', text: 'hello', people: CALM });
    await host.quiet();

    assert.ok(hanging.length >= 10, `${hanging.length} hang`);
    assert.equal(heard.length, CALM);
  });
});

const accountsOf = (loud: readonly string[]) => ({ memory: { endpoints: [...loud, 'calm'].map((id) => ({ id })) } });

async function hostOf(
  t: Parameters<typeof engineHost>[0],
  loud: readonly string[],
  inbox: Readonly<Record<string, number>> = {},
) {
  const hanging: string[] = [];
  const heard: string[] = [];
  const slow = definePlugin({
    name: 'slow',
    setup(p) {
      const due = p.task('due', { data: {} }, () => void heard.push('due'));
      p.on('message', {}, (ctx, { text }) => {
        const { endpoint } = ctx.conversation;
        if (text === 'hang') {
          hanging.push(endpoint);
          return new Promise<undefined>(() => {});
        }
        heard.push(endpoint);
        if (text === 'remind me') ctx.schedule(due, {}, { afterMs: 1_000 });
        return undefined;
      });
    },
  });
  const host = await engineHost(t, { modules: { slow }, config: { inbox, plugins: accountsOf(loud) } });
  return { host, hanging, heard };
}

/** Each of so many people says it, in a conversation of their own; resolves when all of it is stored. */
async function writes(
  host: EngineHost,
  { account, text, people }: { readonly account: string; readonly text: string; readonly people: number },
): Promise<void> {
  const all = Array.from({ length: people }, (_, n) =>
    host.platform.says(text, { endpoint: idOf(account), from: `${account}-${n}` }),
  );
  await Promise.all(all);
}
