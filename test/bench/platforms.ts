// Signed webhooks of six platforms at a fixed rate, over 24 accounts of one host: each stored, handled with a write of state, and answered
// as often as the platforms let the accounts. Beside it the same load on a bare server that answers 200.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { WORKER_OPTIONS } from '../../supervisor/cli/start/worker-entry.ts';
import { HostApi } from '../kits/crash/kit/host-api.ts';
import { type RunningHost, runningHost } from '../support/hosts/running-host.ts';
import { until } from '../support/until.ts';
import { type OpenLoopResult, type Post, sendAtRate } from './load/open-loop.ts';
import type { Addresses } from './load/platform-fakes.ts';
import type { Report } from './load/report.ts';
import { percentile } from './load/support.ts';
import { ACCOUNTS, deliveryOf, type Source, sourcesOf } from './platform-deliveries.ts';
import { KEPT_OPTIONS, KEPT_ROUTE, keptMemory, reportMemory, sampleResident } from './platform-memory.ts';

const PER_SECOND = 1_000;
/**
 * A host that has just started is told apart: until V8 has compiled what is used it is behind. Of its first 2,000 deliveries each takes twice the
 * time of its main thread, and V8's own threads take as much again; the writer takes no more than later.
 */
const WARM_UP_SECONDS = 10;
/** After that: what is kept for a minute, or up to a number (the tokens of Discord, 1,000 an account), is full before memory is looked at. */
const FILL_SECONDS = 50;
/** Signed before the clock runs, as far as memory allows: on a real host that is not this machine's work. */
const MOST_MADE = 120_000;
const BASELINE_SECONDS = 10;
const GOAL_P99_MS = 100;
/** The kernel's own unit, the same on every system of today. */
const TICKS_PER_SECOND = 100;
const REST_LIMIT_MS = 300_000;

const COUNTING = `
import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'counting', setup(p) {
  const count = p.state('count', { scope: 'conversation', value: t.integer() });
  const handle = async (ctx, { text }) => {
    const number = 1 + ((await ctx.get(count)) ?? 0);
    ctx.set(count, number);
    return text.startsWith('ask') ? 'this is number ' + number : undefined;
  };
  p.on('message', {}, handle);
  p.command('count', { summary: 'Counts', args: { text: t.rest() } }, handle);
  ${KEPT_ROUTE}
} });
`;

export async function benchPlatforms(report: Report, seconds: number): Promise<void> {
  const hooks: (() => void | Promise<void>)[] = [];
  const t = { after: (hook: () => void | Promise<void>): void => void hooks.push(hook) };
  try {
    const addresses = (await forked('fakes', t)) as Addresses;
    const sources = sourcesOf(addresses);
    const make = madeBefore(Math.min(MOST_MADE, PER_SECOND * (WARM_UP_SECONDS + FILL_SECONDS + seconds)), (n) =>
      deliveryOf(sources[n % sources.length] as Source, Math.floor(n / sources.length), PER_SECOND / sources.length),
    );
    const bare = (await forked('bare', t)) as number;
    const baseline = await sendAtRate({
      port: bare,
      perSecond: PER_SECOND,
      seconds: Math.min(seconds, BASELINE_SECONDS),
      make,
    });
    const host = await hostOf(t, sources);
    await measure(report, { host, seconds, make, baseline });
  } finally {
    for (const hook of hooks.toReversed()) await hook();
  }
}

/** The same, the first ones made at once. */
function madeBefore(count: number, make: (n: number) => Post): (n: number) => Post {
  const made = Array.from({ length: count }, (_, n) => make(n));
  return (n) => made[n] ?? make(n);
}

interface Measured {
  readonly host: RunningHost;
  readonly seconds: number;
  readonly make: (n: number) => Post;
  readonly baseline: OpenLoopResult;
}

async function measure(report: Report, { host, seconds, make, baseline }: Measured): Promise<void> {
  const port = Number(new URL(host.url).port);
  const warm = PER_SECOND * WARM_UP_SECONDS;
  const fill = PER_SECOND * FILL_SECONDS;
  const first = await sendAtRate({ port, perSecond: PER_SECOND, seconds: WARM_UP_SECONDS, make });
  const filling = { port, perSecond: PER_SECOND, seconds: FILL_SECONDS, make: (n: number) => make(warm + n) };
  const filled = await sendAtRate(filling);
  const api = new HostApi(host.url.slice(0, -1), host.project.token);
  await atRest(api);
  const before = await keptMemory(api, 'counting');
  const endOfSamples = sampleResident(host.pid());
  const cpuBefore = cpuSeconds(host.pid());
  const { latencies, late, failed } = await sendAtRate({
    port,
    perSecond: PER_SECOND,
    seconds,
    make: (n) => make(warm + fill + n),
  });
  const samples = endOfSamples();
  const cpu = cpuSeconds(host.pid()) - cpuBefore;
  const endedAt = performance.now();
  await atRest(api);
  const restSeconds = (performance.now() - endedAt) / 1_000;
  const after = await keptMemory(api, 'counting');
  const [done, sent] = [await api.count('inbox', 'done'), await api.count('outbox', 'sent')];

  const name = `platform webhooks, ${PER_SECOND.toLocaleString('en')}/s for ${seconds} s`;
  const of = (share: number) => ({
    value: percentile(latencies, share),
    baseline: { name: 'bare server', value: percentile(baseline.latencies, share) },
  });
  const p99 = of(0.99);
  report.add({ name: `${name}: p50`, unit: 'ms', ...of(0.5) });
  report.add({
    name: '  p99 to the acknowledgement',
    unit: 'ms',
    ...p99,
    goal: { text: `< ${GOAL_P99_MS} ms`, met: p99.value < GOAL_P99_MS },
  });
  report.add({ name: '  longest', unit: 'ms', ...of(1) });
  report.add({
    name: `  p99 of the first ${WARM_UP_SECONDS} s, from its start on`,
    unit: 'ms',
    value: percentile(first.latencies, 0.99),
  });
  report.add({
    name: '  p99 of how late they were sent',
    unit: 'ms',
    value: percentile(late, 0.99),
    baseline: { name: 'bare server', value: percentile(baseline.late, 0.99) },
  });
  const refused = [...failed.values()].reduce((sum, count) => sum + count, 0);
  const why = [...failed].map(([status, count]) => `${status}: ${count}`).join(', ');
  report.add({
    name: `  refused or not answered${why === '' ? '' : ` (${why})`}`,
    value: refused,
    unit: '',
    goal: { text: '0', met: refused === 0 },
  });
  report.add({ name: '  processors that the host took', value: cpu / seconds, unit: '' });
  const taken = [first, filled, { latencies }].reduce((sum, part) => sum + part.latencies.length, 0);
  report.add({
    name: '  handled',
    unit: '',
    value: done,
    baseline: { name: 'acknowledged', value: taken },
    goal: { text: 'all', met: done === taken },
  });
  report.add({ name: '  answered', unit: '', value: sent });
  report.add({ name: '  at rest after the last one', unit: 's', value: restSeconds });
  reportMemory(report, { before, after, samples });
}

const atRest = (api: HostApi): Promise<unknown> =>
  until(async () => (await api.unfinished()) === 0, {
    what: 'the last answer',
    timeoutMs: REST_LIMIT_MS,
    everyMs: 100,
  });

async function hostOf(t: Parameters<typeof runningHost>[0], sources: readonly Source[]): Promise<RunningHost> {
  const slot = ({ name, account }: Source) => [
    name,
    { endpoints: Array.from({ length: ACCOUNTS }, (_, n) => ({ id: `a${n}`, ...account(n) })) },
  ];
  return runningHost(t, {
    nodeOptions: [...WORKER_OPTIONS, ...KEPT_OPTIONS],
    http: { publicUrl: 'https://bot.example' },
    config: { log_level: 'warn' },
    plugins: { ...Object.fromEntries(sources.map(slot)), counting: { use: './plugins/counting.mjs' } },
    env: Object.assign({}, ...sources.map(({ env }) => env)) as Record<string, string>,
    sources: { 'counting.mjs': COUNTING },
  });
}

/** That a process has had so far, of all its threads. */
function cpuSeconds(pid: number): number {
  const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

async function forked(what: 'fakes' | 'bare', t: { after(hook: () => void): void }): Promise<unknown> {
  const child: ChildProcess = fork(new URL('platform-fakes.ts', import.meta.url), [what], {
    execArgv: process.execArgv,
  });
  t.after(() => void child.kill());
  const [message] = (await once(child, 'message')) as [unknown];
  return message;
}
