import { md } from './worker/sdk/index.ts';
import { toContent } from './worker/sdk/message.ts';
import { compose } from './worker/outbox/compose.ts';
import { readdirSync } from 'node:fs';
const renders: [string, any][] = [['plain','plain'],['markdown','markdown'],['html','html']];
for (const d of readdirSync('./worker/adapters', { withFileTypes: true })) {
  if (!d.isDirectory()) continue;
  try {
    const m: any = await import(`./worker/adapters/${d.name}/index.ts`);
    const c = m.default?.can ?? m.default?.definition?.can;
    if (c) renders.push([d.name, c]); else console.log('no can', d.name, Object.keys(m.default ?? m));
  } catch (e) { console.log('cannot', d.name, (e as Error).message); }
}
const chars = ['[', ']', '(', '*', '_', '`', '~', '<', '>', '|', '\\', '![', '[](', '](', '**', '*_', '~~', '```', '> ', '\n>', '[a](', '&', '#', '- ', '\n- ', '$', '@', ':', '<!', '`\\', '* ', '_a', '\n', ' \n', '\t', '1. ', '<@', 'http://', 'a@', '\u0000', '```\n', '$`','||','+','.', '=' ];
const time = (f: () => unknown): number => { const t = performance.now(); f(); return performance.now() - t; };
const N = Number(process.argv[2] ?? 30000);
for (const c of chars) {
  const text = (n: number): string => c.repeat(Math.ceil(n / c.length)).slice(0, n);
  // md literal
  const lit = (n: number) => time(() => md([text(n)] as never));
  lit(1000);
  const a = lit(N), b = lit(2 * N);
  if (b > 3 * a && b > 40) console.log('md literal', JSON.stringify(c), a.toFixed(0), b.toFixed(0));
  for (const [name, r] of renders) {
    const can: any = typeof r === 'object' ? r : { text: { limit: 2000, unit: 'codepoints', render: r } };
    for (const [how, seg] of [['value', (n: number) => md`x ${text(n)} y`], ['bold', (n: number) => ({ segments: [{ kind: 'text', text: text(n), marks: ['bold'] }] })], ['code', (n: number) => ({ segments: [{ kind: 'code', text: text(n) }] })], ['inline', (n: number) => ({ segments: [{ kind: 'text', text: text(n), marks: ['code'] }] })], ['quote', (n: number) => ({ segments: [{ kind: 'quote', text: text(n) }] })], ['link', (n: number) => ({ segments: [{ kind: 'link', text: text(n), url: 'https://a/' + text(n) }] })]] as const) {
      for (const limit of [can.text.limit, 1e9]) {
      const run = (n: number) => { const s: any = seg(n); return time(() => compose({ segments: s.segments, buttons: [], files: [] } as never, { ...can, text: { ...can.text, limit } }, { private: true } as never)); };
      run(1000);
      const x = run(N), y = run(2 * N);
      if ((y > 3 * x && y > 60) || y > 1500) console.log(name, how, limit, JSON.stringify(c), x.toFixed(0), y.toFixed(0));
      }
    }
  }
}
console.log('end');
