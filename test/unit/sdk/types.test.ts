// What the compiler promises to authors: types come from the schema beside the handler, and thirteen mistakes are refused.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ConversationRef, defineAgentTool, definePlugin, type PluginModule, type Secret, t } from 'svc';
import { compilerSays } from '../../support/compiler.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
const same = <A, B>(_proof: Same<A, B>): void => {};

const types = definePlugin({
  name: 'types',
  config: {
    days: t.integer({ default: 3 }),
    token: t.secret(),
    size: t.optional(t.enum(['s', 'm'])),
    to: t.conversation(),
  },
  setup(p) {
    same<typeof p.config.days, number>(true);
    same<typeof p.config.token, Secret>(true);
    same<typeof p.config.size, 's' | 'm' | undefined>(true);
    same<typeof p.config.to, ConversationRef>(true);
    // @ts-expect-error unknown key of the configuration
    void p.config.dayz;
    const n = p.state('n', { scope: 'user', value: t.integer() });
    const fire = p.task('fire', { data: { text: t.string() } }, (ctx, data) => {
      same<typeof data, { text: string }>(true);
      // @ts-expect-error a task has no conversation of its own
      ctx.reply('x');
    });
    const size = p.dialog(
      'size',
      {
        answers: { a: t.integer(), b: t.optional(t.string()) },
        steps: { a: { when: (known) => known.b !== 'x', check: (v) => (v > 1 ? undefined : 'more') } },
      },
      (_ctx, answers) => {
        same<typeof answers, { b?: string; a: number }>(true);
      },
    );
    p.command(
      'x',
      { summary: '', args: { in: t.duration(), many: t.array(t.number()), loud: t.optional(t.boolean()) } },
      async (ctx, args) => {
        same<typeof args, { loud?: boolean; in: number; many: number[] }>(true);
        // What platforms and services take: the body of a fetch, a part of a form.
        const bytes = await ctx.readFile({ id: 'f', name: 'f', mime: 'image/png', bytes: 1 });
        void new Response(bytes);
        void new Blob([bytes]);
        ctx.schedule(fire, { text: 'a' }, { afterMs: 1 });
        // @ts-expect-error wrong data for the task
        ctx.schedule(fire, { text: 1 });
        // @ts-expect-error wrong value for the state
        ctx.set(n, 'one');
        same<Awaited<ReturnType<typeof ctx.get<number>>>, number | undefined>(true);
        ctx.ask(size, { a: 1 });
        // @ts-expect-error unknown answer
        ctx.ask(size, { c: 1 });
        const stored = await ctx.once('s', () => ({
          at: new Date(),
          f: () => 1,
          n: 1,
          list: [1, undefined] as (number | undefined)[],
        }));
        same<typeof stored.at, string>(true);
        same<typeof stored.list, (number | null)[]>(true);
        const issues = await ctx.once('issues', () => ({ items: [{ at: new Date(), labels: ['a'] as const }] }));
        same<typeof issues, { items: { at: string; labels: readonly ['a'] }[] }>(true);
        const foreign = await ctx.once('foreign', async (): Promise<unknown> => 1);
        same<typeof foreign, unknown>(true);
        const nothing = await ctx.once('nothing', () => {});
        same<typeof nothing, void>(true);
        // @ts-expect-error functions do not come back from storage
        void stored.f;
        // @ts-expect-error workroom was not asked for in uses
        void ctx.workroom;
        // @ts-expect-error a number is not a body
        ctx.reply(1);
      },
    );
    const c = p.counter('c', 'help', { kind: ['a', 'b'] });
    const plain = p.counter('d', 'help');
    p.on('reaction', { order: 'before' }, (ctx, event) => {
      same<typeof event.on, boolean>(true);
      ctx.count(c, { kind: 'a' });
      ctx.count(plain);
      // @ts-expect-error label outside its set
      ctx.count(c, { kind: 'z' });
      // @ts-expect-error labels are missing
      ctx.count(c);
    });
    // @ts-expect-error no such kind of event
    p.on('reactions', {}, () => {});
    p.route('POST /x', { scope: 'full', body: t.object({ a: t.integer() }) }, (_ctx, request) => ({
      json: request.json.a,
    }));
    // @ts-expect-error not a method and a path
    p.route('/x', { scope: 'full' }, () => ({}));
    p.tool(
      defineAgentTool({
        name: 'x',
        description: '',
        input: { city: t.string() },
        run: (_ctx, input) => {
          same<typeof input, { city: string }>(true);
          return 1;
        },
      }),
    );
  },
});
const parts = definePlugin({
  name: 'parts',
  uses: ['workroom'],
  setup(p) {
    p.command('w', { summary: '' }, async (ctx) => {
      const answer = await ctx.workroom.do({ kind: 'open' });
      return answer.kind === 'accepted' ? answer.item : answer.reason;
    });
  },
});
// @ts-expect-error no such part
const none = definePlugin({ name: 'none', uses: ['database'], setup() {} });

describe('the types of the SDK', () => {
  it('refuse thirteen mistakes and nothing else in this file', async () => {
    const file = fileURLToPath(import.meta.url);
    const plugins: readonly PluginModule[] = [types, parts, none];

    const expected = (await readFile(file, 'utf8')).match(/^\s*\/\/ @ts-expect-error /gm)?.length;
    const said = await compilerSays([file]);

    assert.equal(plugins.length, 3);
    assert.equal(expected, 13);
    assert.equal(said, '');
  });
});
