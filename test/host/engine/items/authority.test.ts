// A worker whose authority to write has gone to another one: it begins and ends nothing more, and loses nothing.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { holdsAuthority, takeAuthority } from '../../../../worker/database/authority.ts';
import type { Statement } from '../../../../worker/database/unit.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

interface Fenced {
  readonly host: EngineHost;
  /** Texts as their handler began. */
  readonly begun: string[];
  /** Ends the handlers that wait. */
  end(): void;
  /** Another worker begins. */
  lose(): Promise<void>;
}

async function fencedHost(t: TestContext): Promise<Fenced> {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const says = definePlugin({
    name: 'says',
    setup(p) {
      p.on('message', {}, async (ctx, { text }) => {
        begun.push(text);
        if (text === 'slow') await new Promise<void>((resolve) => waiting.push(resolve));
        ctx.reply(`heard ${text}`);
      });
    },
  });
  const host = await engineHost(t, { modules: { says } });
  const begin = async (): Promise<number> => {
    const answer = await host.core.writer.commit({ name: 'test', statements: [takeAuthority()] });
    return answer.kind === 'committed' ? Number(answer.rows[0]?.[0]?.['value']) : Number.NaN;
  };
  (host.core as { fence?: Statement }).fence = holdsAuthority(await begin());
  const end = (): void => {
    for (const one of waiting.splice(0)) one();
  };
  return { host, begun, end, lose: async () => void (await begin()) };
}

describe('a worker whose authority has gone to another one', () => {
  it('takes in and answers as long as it has it', async (t) => {
    const { host } = await fencedHost(t);

    await host.platform.says('one');
    await host.platform.says('two');
    await host.quiet();

    assert.deepEqual(host.platform.said('dm-ann'), ['heard one', 'heard two']);
    assert.deepEqual(
      [host.states('inbox'), host.states('outbox')],
      [
        ['done', 'done'],
        ['sent', 'sent'],
      ],
    );
  });

  it('stores nothing as begun, so that whoever delivers comes again', async (t) => {
    const { host, begun, lose } = await fencedHost(t);
    await lose();

    await assert.rejects(host.platform.says('one', { id: 'd-one' }), { code: 'storage_unavailable' });
    const restarted = await host.restart(t);
    await restarted.platform.says('one', { id: 'd-one' });
    await restarted.quiet();

    assert.deepEqual([begun, restarted.platform.said('dm-ann')], [['one'], ['heard one']]);
  });

  it('begins nothing that is stored', async (t) => {
    const { host, begun, end, lose } = await fencedHost(t);
    await host.platform.says('slow');
    await host.platform.says('behind it');
    await lose();
    end();
    await host.advance(3_000);

    assert.ok(!begun.includes('behind it'));
    assert.deepEqual([host.states('inbox'), host.states('outbox')], [['handling', 'received'], []]);
    const restarted = await host.restart(t);
    end();
    await restarted.quiet();

    assert.deepEqual(restarted.platform.said('dm-ann'), ['heard slow', 'heard behind it']);
  });
});
