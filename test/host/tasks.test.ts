// Waiting tasks for an operator: over HTTP, by `svc tasks`, and what the plugin sees of it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TaskPage } from '../../shared/api/task.ts';
import type { CommandContext } from '../../supervisor/cli/command.ts';
import { commands } from '../../supervisor/cli/commands/tasks.ts';
import { definePlugin, t } from '../../worker/sdk/index.ts';
import { createTaskControl } from '../../worker/timers/task-control.ts';
import { capturedContext } from '../support/commands/cli-context.ts';
import { HTTP, type Running, running } from '../support/hosts/app-host.ts';
import { type EngineHost, engineHost } from '../support/hosts/engine-host.ts';
import { until } from '../support/until.ts';

const CALLER = { scope: 'full', actor: 'operator', requestId: 'r' } as const;

/** Runs `svc tasks …` on the host; its lines. */
async function svcTasks(host: Running, verb: string, ...args: string[]): Promise<readonly string[]> {
  const captured = capturedContext('');
  const client = {
    url: '',
    request: async (method: string, path: string, { body }: { readonly body?: unknown } = {}) => {
      const answer = await host.call(method, path, body);
      if (answer.status >= 300) throw Object.assign(new Error(answer.text), { code: answer.json['code'] });
      return { status: answer.status, headers: answer.headers, body: answer.json };
    },
  };
  const context = { ...captured, host: async () => client } as unknown as CommandContext;
  const command = commands.find((one) => one.verb === verb);
  assert.equal(await command?.run(context, args, {}), 0);
  return captured.out;
}

describe('waiting tasks of a host', () => {
  it('are listed and cancelled by the command, and a cancelled reminder is gone for its person', async (test) => {
    const host = await running(test, { config: { http: HTTP, plugins: { sandbox: {}, remind: {} } } });
    let told = 0;
    const says = async (text: string): Promise<string> => {
      await host.call('POST', '/api/chat/say', { person: 'ann', text, delivery: randomUUID() });
      const answers = await until(
        async () => {
          const { json } = await host.call('GET', '/api/chat/messages?person=ann');
          const ours = (json['messages'] as { from: string; text: string }[]).filter(({ from }) => from !== 'ann');
          return ours.length > told ? ours : undefined;
        },
        { what: `an answer to ${text}` },
      );
      told = answers.length;
      return answers.at(-1)?.text ?? '';
    };

    await says('/remind 2h tea');
    await says('/remind tomorrow at 9 milk');
    assert.match(await says('/remind list'), /1\).* in .*: tea/);
    const [head, first = '', second] = await svcTasks(host, 'list');
    const [id = '', , capability] = first.split(' | ');

    assert.equal(head, 'id | next | task | data');
    assert.equal(capability, 'root/remind#task/fire');
    assert.notEqual(second, undefined);
    const [done] = await svcTasks(host, 'cancel', id);

    assert.match(done ?? '', /^cancelled: root\/remind#task\/fire, which was due at 20/);
    const left = await says('/remind list');
    assert.deepEqual([left.split('\n').length, (await svcTasks(host, 'list')).length], [1, 2]);
    await assert.rejects(svcTasks(host, 'cancel', id), { code: 'not_found' });
  });
});

const alarm = definePlugin({
  name: 'alarm',
  setup(p) {
    const fire = p.task(
      'fire',
      { data: { text: t.string() } },
      (ctx, { text }) => void ctx.send({ endpoint: 'memory~a', id: '#out' }, text),
    );
    p.cron('daily', { at: '0 9 * * *' }, () => {});
    p.on('message', {}, (ctx, { text }) => {
      const [ms = '0', words = ''] = text.split(' ');
      ctx.schedule(fire, { text: words }, { afterMs: Number(ms), ...(words === 'free' ? {} : { key: words }) });
    });
  },
});
const other = definePlugin({
  name: 'other',
  setup(p) {
    p.cron('hourly', { at: '0 * * * *' }, () => {});
  },
});

const shown = ({ items }: TaskPage): unknown[] => items.map(({ kind, key, data }) => [kind, key, data]);

async function start(test: Parameters<typeof engineHost>[0]): Promise<EngineHost> {
  const host = await engineHost(test, { modules: { alarm, other } });
  for (const line of ['60000 a', '120000 b', '180000 free']) await host.platform.says(line);
  await host.quiet();
  return host;
}

describe('the control of waiting tasks', () => {
  it('shows them in order, with next times of cron, in pages, of one plugin', async (test) => {
    const host = await start(test);
    const control = createTaskControl(host.core);
    const all = { after: undefined, plugin: undefined, limit: 10 };
    const expected = [
      ['task', 'a', { text: 'a' }],
      ['task', 'b', { text: 'b' }],
      ['task', null, { text: 'free' }],
      ['cron', null, { at: '0 * * * *', timezone: 'UTC' }],
      ['cron', null, { at: '0 9 * * *', timezone: 'UTC' }],
    ];

    const page = await control.page(all);
    assert.deepEqual(shown(page), expected);
    assert.deepEqual(page.items.map(({ at }) => at).slice(3), ['2026-01-01T13:00:00.000Z', '2026-01-02T09:00:00.000Z']);
    const pages: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const { items, next } = await control.page({ ...all, after, limit: 2 });
      pages.push(...shown({ items }));
      if (next === undefined) break;
      after = next;
    }
    assert.deepEqual(pages, expected);
    assert.equal((await control.page({ ...all, plugin: 'other' })).items.length, 1);
    assert.equal((await control.page({ ...all, plugin: 'alar' })).items.length, 0);
    await assert.rejects(control.page({ ...all, after: 'x' }), { code: 'invalid_request' });
  });

  it('takes a task away for good, and none that was put off, has fired or is of cron', async (test) => {
    const host = await start(test);
    const control = createTaskControl(host.core);
    const list = async () => (await control.page({ after: undefined, plugin: 'alarm', limit: 10 })).items;
    const [a, b, free, daily] = await list();
    assert.ok(a && b && free && daily);

    await control.cancel(free.id, { caller: CALLER });
    assert.deepEqual(host.events('task.cancelled').length, 1);
    await assert.rejects(control.cancel(free.id, { caller: CALLER }), { code: 'not_found' });
    await assert.rejects(control.cancel(daily.id, { caller: CALLER }), { code: 'conflict' });
    await assert.rejects(control.cancel('nothing', { caller: CALLER }), { code: 'not_found' });
    await host.platform.says('240000 b');
    await host.quiet();
    await assert.rejects(control.cancel(b.id, { caller: CALLER }), { code: 'not_found' });
    const next = await host.restart(test);
    await next.advance(600_000);

    assert.deepEqual(next.platform.said('#out'), ['a', 'b']);
    await assert.rejects(createTaskControl(next.core).cancel(a.id, { caller: CALLER }), { code: 'not_found' });
  });
});
