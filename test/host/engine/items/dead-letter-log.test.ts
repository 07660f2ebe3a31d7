// Each dead letter has a line of log that names the command which shows it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, giveUp } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const failing = definePlugin({
  name: 'failing',
  setup(p) {
    p.on('message', {}, (_ctx, { text }) => {
      if (text === 'die') throw giveUp('no');
      return text === 'emoji' ? '😀' : 'said';
    });
  },
});

const errors = (host: EngineHost) => host.logs.filter(({ level }) => level === 'error');
const idIn = (host: EngineHost, store: string): string =>
  host.rows<{ id: string }>(`SELECT id FROM ${store}`)[0]?.id ?? '';

describe('the log of a dead letter', () => {
  it('names the item, its cause and the command that shows it, and quotes nobody', async (t) => {
    const host = await engineHost(t, { modules: { failing } });

    await host.platform.says('die');
    await host.quiet();

    const id = idIn(host, 'inbox');
    assert.deepEqual(errors(host), [
      {
        level: 'error',
        message: `a message is a dead letter: svc inbox show ${id}`,
        fields: {
          item: id,
          endpoint: 'root/memory:memory~a',
          code: 'handler_failed',
          handler: 'root/failing#on/message',
        },
      },
    ]);
    assert.deepEqual(host.rows('SELECT code, failed_handler FROM inbox'), [
      { code: 'handler_failed', failed_handler: 'root/failing#on/message' },
    ]);
  });

  it('is there for a send that the platform refuses, and once for each', async (t) => {
    const host = await engineHost(t, { modules: { failing } });
    host.platform.answer = () => ({ kind: 'refused', reason: 'ann has left' });

    for (const from of ['ann', 'bob']) await host.platform.says('hello', { from });
    await host.quiet();

    const ids = host.rows<{ id: string }>('SELECT id FROM outbox ORDER BY seq').map(({ id }) => id);
    assert.deepEqual(
      errors(host).map(({ message, fields }) => [message, fields['code']]),
      ids.map((id) => [`a send is a dead letter: svc outbox show ${id}`, 'platform_refused']),
    );
  });

  it('is there for a part that does not fit its platform', async (t) => {
    const platform = new MemoryPlatform({ text: { limit: 1, unit: 'utf16', render: 'plain' } });
    const host = await engineHost(t, { modules: { failing }, platform });

    await host.platform.says('emoji');
    await host.quiet();

    const id = idIn(host, 'outbox');
    assert.deepEqual(
      errors(host).map(({ message, fields }) => [message, fields['code']]),
      [[`a send is a dead letter: svc outbox show ${id}`, 'not_sendable']],
    );
  });

  it('is there for a send whose end nobody knows', async (t) => {
    const platform = new MemoryPlatform({ idempotent: false });
    const host = await engineHost(t, { modules: { failing }, platform, config: { outbox: { onUnknown: 'hold' } } });
    host.platform.answer = () => Promise.reject(new Error('reset'));

    await host.platform.says('hello');
    await host.quiet();

    const id = idIn(host, 'outbox');
    assert.deepEqual(
      errors(host).map(({ message, fields }) => [message, fields['code']]),
      [[`a send has no known outcome: svc outbox show ${id}`, 'result_unknown']],
    );
  });
});
