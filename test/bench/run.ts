// npm run bench [-- start | webhooks | http | events]: every figure as a ratio to its baseline of the same run. Machines are shared and
// noisy: medians over rounds; a goal that is missed is printed, never hidden, and never fails the command.
import { benchEvents } from './events.ts';
import { benchHttp } from './http.ts';
import { measureStart } from './start.ts';
import { measureWebhooks } from './webhooks.ts';

const ROUNDS = 3;
const DELIVERIES = 12_000;

interface Line {
  readonly name: string;
  readonly value: string;
  readonly baseline: string;
  readonly ratio: number | undefined;
  /** Undefined: no goal. */
  readonly met: boolean | undefined;
  readonly goal: string;
}

const wanted = process.argv.slice(2);
const asks = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
const round = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1));

function print({ name, value, baseline, ratio, met, goal }: Line): void {
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED';
  console.log(
    `${name.padEnd(44)} ${value.padStart(14)} ${baseline.padStart(26)} ${(ratio === undefined ? '' : ratio.toFixed(2)).padStart(7)}  ${goal} ${verdict}`,
  );
}

console.log(
  `node ${process.version}\n${'figure'.padEnd(44)} ${'value'.padStart(14)} ${'baseline'.padStart(26)} ${'ratio'.padStart(7)}  goal`,
);

if (asks('start')) {
  const figures = await measureStart(5);
  const bare = `bare server ${round(figures.bareMs)} ms`;
  print({
    name: 'start to health',
    value: `${round(figures.healthMs)} ms`,
    baseline: bare,
    ratio: figures.healthMs / figures.bareMs,
    met: undefined,
    goal: '',
  });
  print({
    name: 'start to ready',
    value: `${round(figures.readyMs)} ms`,
    baseline: bare,
    ratio: figures.readyMs / figures.bareMs,
    met: figures.readyMs / figures.bareMs <= 3.5,
    goal: '<= 3.5',
  });
  const bareMemory = `bare server ${round(figures.bareMiB)} MiB`;
  print({
    name: 'idle memory of the worker',
    value: `${round(figures.workerMiB)} MiB`,
    baseline: bareMemory,
    ratio: figures.workerMiB / figures.bareMiB,
    met: figures.workerMiB <= 90,
    goal: '<= 90 MiB',
  });
  print({
    name: 'idle memory of the supervisor',
    value: `${round(figures.supervisorMiB)} MiB`,
    baseline: bareMemory,
    ratio: figures.supervisorMiB / figures.bareMiB,
    met: figures.supervisorMiB <= 42,
    goal: '<= 42 MiB',
  });
}
if (asks('webhooks')) {
  const figures = await measureWebhooks(ROUNDS, DELIVERIES);
  print({
    name: 'durable webhooks/s (2 KB, 64 connections)',
    value: round(figures.durable),
    baseline: `writer alone ${round(figures.writer)}`,
    ratio: figures.durable / figures.writer,
    met: figures.durable / figures.writer >= 0.4,
    goal: '>= 0.40',
  });
  print({
    name: '  the same',
    value: round(figures.durable),
    baseline: `nothing stored ${round(figures.bare)}`,
    ratio: figures.durable / figures.bare,
    met: undefined,
    goal: '',
  });
  print({
    name: '  p99 to the acknowledgement',
    value: `${round(figures.p99)} ms`,
    baseline: '',
    ratio: undefined,
    met: figures.p99 < 25,
    goal: '< 25 ms',
  });
  print({
    name: 'durable commands/s (in, plugin, out)',
    value: round(figures.commands),
    baseline: `writer alone ${round(figures.writer)}`,
    ratio: figures.commands / figures.writer,
    met: figures.commands >= 3_000,
    goal: '>= 3,000/s',
  });
}
if (asks('http')) {
  for (const { name, requestsPerSecond, p99Ms, ratio } of await benchHttp(3)) {
    const isHealth = name.includes('/pub/health');
    print({
      name: `${name} (p99 ${round(p99Ms)} ms)`,
      value: round(requestsPerSecond),
      baseline: 'bare node:http',
      ratio,
      met: isHealth ? ratio >= 0.6 : undefined,
      goal: isHealth ? '>= 0.60' : '',
    });
  }
}
if (asks('events')) {
  await benchEvents(({ name, perSecond, baselinePerSecond, ratio, goal }) =>
    print({
      name,
      value: round(perSecond),
      baseline: `raw writes ${round(baselinePerSecond)}`,
      ratio,
      met: goal === undefined ? undefined : ratio >= goal,
      goal: goal === undefined ? '' : `>= ${goal}`,
    }),
  );
}
