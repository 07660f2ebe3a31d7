// npm run bench [-- start | testing | webhooks | http | events | logs | supervisor | platforms | hostile | texts | journal | jobs | recovery | release] [--json] [--restarts N] [--seconds N] [--events N] [--mb N]: every figure as a ratio
// to its baseline of the same run. Machines are shared and noisy: medians over rounds; a goal that is missed is printed, never hidden, and
// never fails the command. --json prints one document, --restarts is how often the worker of the supervisor is restarted before its memory is
// looked at again (1,000), --seconds how long the webhooks of the platforms come (60), and an attack stands (30), --events how many events the
// journal has (100,000; 1,000,000 where a checkpoint is rehearsed and restored), --mb the size of the database that is copied (1,024).
import { parseArgs } from 'node:util';
import { benchEvents } from './events.ts';
import { benchHostile } from './hostile.ts';
import { benchHttp } from './http.ts';
import { benchJobs } from './jobs.ts';
import { benchJournal } from './journal.ts';
import { openReport } from './load/report.ts';
import { measureLogs } from './logs.ts';
import { benchPlatforms } from './platforms.ts';
import { benchPluginTests } from './plugin-tests.ts';
import { benchRecovery } from './recovery.ts';
import { benchRehearsal } from './rehearsal.ts';
import { benchRelease } from './release.ts';
import { benchRunningCheckpoint } from './running-checkpoint.ts';
import { measureStart } from './start.ts';
import { benchSupervisor } from './supervisor.ts';
import { benchTexts } from './texts.ts';
import { measureWebhooks } from './webhooks.ts';

// A file of certificates costs each start of Node 20 some 80 ms, and nothing here speaks TLS.
delete process.env['NODE_EXTRA_CA_CERTS'];

const ROUNDS = 3;
const DELIVERIES = 30_000;

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    restarts: { type: 'string', default: '1000' },
    seconds: { type: 'string' },
    events: { type: 'string' },
    mb: { type: 'string', default: '1024' },
  },
  allowPositionals: true,
});
const asks = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
const report = openReport(values.json);

if (asks('start')) {
  const { bareMs, healthMs, readyMs, workerMiB, bareMiB, supervisorMiB } = await measureStart(5);
  const bare = { name: 'bare server', value: bareMs };
  const memory = { name: 'bare server', value: bareMiB };
  report.add({ name: 'start to health', value: healthMs, unit: 'ms', baseline: bare, ratio: healthMs / bareMs });
  report.add({
    name: 'start to ready',
    value: readyMs,
    unit: 'ms',
    baseline: bare,
    ratio: readyMs / bareMs,
    goal: { text: '<= 4', met: readyMs / bareMs <= 4 },
  });
  report.add({
    name: 'idle memory of the worker',
    value: workerMiB,
    unit: 'MiB',
    baseline: memory,
    ratio: workerMiB / bareMiB,
    goal: { text: '<= 90 MiB', met: workerMiB <= 90 },
  });
  report.add({
    name: 'idle memory of the supervisor',
    value: supervisorMiB,
    unit: 'MiB',
    baseline: memory,
    ratio: supervisorMiB / bareMiB,
    goal: { text: '<= 42 MiB', met: supervisorMiB <= 42 },
  });
}
if (asks('testing')) await benchPluginTests(report);
if (asks('jobs')) await benchJobs(report);
if (asks('journal')) await benchJournal(report, Number(values.events ?? 100_000));
if (asks('webhooks')) {
  const { durable, bare, writer, p99, commands, cold } = await measureWebhooks(ROUNDS, DELIVERIES);
  const alone = { name: 'writer alone', value: writer };
  report.add({
    name: 'durable webhooks (2 KB, 64 connections)',
    value: durable,
    unit: '/s',
    baseline: alone,
    ratio: durable / writer,
    goal: { text: '>= 0.40', met: durable / writer >= 0.4 },
  });
  report.add({
    name: '  the same',
    value: durable,
    unit: '/s',
    baseline: { name: 'nothing stored', value: bare },
    ratio: durable / bare,
  });
  report.add({
    name: '  p99 to the acknowledgement',
    value: p99,
    unit: 'ms',
    goal: { text: '< 25 ms', met: p99 < 25 },
  });
  report.add({ name: '  the first 9,984, from its start on', value: cold.durable, unit: '/s' });
  report.add({
    name: 'durable commands (in, plugin, out)',
    value: commands,
    unit: '/s',
    baseline: alone,
    ratio: commands / writer,
    goal: { text: '>= 3,000/s', met: commands >= 3_000 },
  });
  report.add({ name: '  the first 9,984, from its start on', value: cold.commands, unit: '/s' });
}
if (asks('http')) {
  for (const { name, requestsPerSecond, p99Ms, ratio } of await benchHttp(3)) {
    report.add({
      name: `${name} (p99 ${p99Ms} ms)`,
      value: requestsPerSecond,
      unit: '/s',
      baseline: { name: 'bare node:http', value: requestsPerSecond / ratio },
      ratio,
      ...(name.includes('/pub/health') ? { goal: { text: '>= 0.60', met: ratio >= 0.6 } } : {}),
    });
  }
}
if (asks('events')) {
  await benchEvents(({ name, perSecond, baselinePerSecond, ratio, goal }) =>
    report.add({
      name,
      value: perSecond,
      unit: '/s',
      baseline: { name: 'raw writes', value: baselinePerSecond },
      ratio,
      ...(goal === undefined ? {} : { goal: { text: `>= ${goal}`, met: ratio >= goal } }),
    }),
  );
}
if (asks('logs')) for (const figure of await measureLogs(ROUNDS)) report.add(figure);
if (asks('supervisor')) await benchSupervisor(report, { restarts: Number(values.restarts) });
if (asks('platforms')) await benchPlatforms(report, Number(values.seconds ?? 60));
if (asks('hostile')) await benchHostile(report, Number(values.seconds ?? 30));
if (asks('texts')) benchTexts(report);
if (asks('recovery')) {
  await benchRecovery(report, { mb: Number(values.mb) });
  await benchRunningCheckpoint(report, { mb: Number(values.mb) });
  await benchRehearsal(report, { events: Number(values.events ?? 1_000_000), mb: Number(values.mb) });
}
if (asks('release')) await benchRelease(report);
report.end();
