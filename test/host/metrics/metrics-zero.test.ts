// Counters begin at 0 for each label that is known, so that `increase()` sees the first event.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const COUNTING = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'counting', setup(p) {
  p.counter('orders', 'Orders', { kind: ['new', 'old'], paid: ['yes', 'no'] });
  p.webhook('hook', { body: t.object({}), verify: () => ({ kind: 'ok' }), delivery: () => 'one' }, () => {});
} });
`;

const JOBS = JSON.stringify({
  version: 1,
  jobs: [
    {
      id: 'tea',
      cron: '0 16 * * *',
      do: { say: { to: { endpoint: 'sandbox', conversation: 'x' }, text: 'tea' } },
      missed: 'skip',
    },
  ],
});

describe('counters before the first event', () => {
  it('are 0 for each value of a closed set of labels', async (t) => {
    const project = temporaryProject(t, {
      config: {
        host: { name: 'test', kind: 'workroom' },
        http: HTTP,
        plugins: { sandbox: {}, counting: { use: './plugins/counting.js' } },
      },
      plugins: { 'counting.js': COUNTING },
    });
    project.write('data/schedule-jobs.json', JOBS);
    const { call } = await running(t, { project });
    await until(async () => (await call('GET', '/api/jobs')).text.includes('"tea"'), {
      what: 'the job to be taken in',
    });
    const readiness = await call('GET', '/api/system/readiness');
    assert.equal(readiness.status, 200, readiness.text);
    const { text } = await call('GET', '/api/metrics');
    const zero = new Set(
      text.split('\n').flatMap((line) =>
        line.endsWith(' 0')
          ? [
              line
                .replace(/,?project="[^"]*"/, '')
                .replace('{}', '')
                .slice(0, -2),
            ]
          : [],
      ),
    );

    const sandbox = 'endpoint="root/sandbox:sandbox"';
    const expected = [
      ...['malformed', 'epoch_changed', 'ahead', 'expired', 'slow_consumer'].map(
        (reason) => `svc_sse_gaps_total{reason="${reason}"}`,
      ),
      ...['crashed', 'stopped', 'restart_requested', 'restart_required', 'config'].map(
        (reason) => `svc_restarts_total{reason="${reason}"}`,
      ),
      ...['accepted', 'duplicate', 'ignored', 'bad_signature', 'unparsable', 'rejected', 'failed'].map(
        (outcome) => `svc_webhooks_total{endpoint="root/counting#webhook/hook",outcome="${outcome}"}`,
      ),
      ...['done', 'dead', 'waiting', 'retired'].map(
        (outcome) => `svc_inbox_handled_total{${sandbox},outcome="${outcome}"}`,
      ),
      ...['sent', 'waiting', 'unknown', 'dead', 'put_off'].map(
        (outcome) => `svc_outbox_attempts_total{${sandbox},outcome="${outcome}"}`,
      ),
      ...['true', 'false'].map((conflict) => `svc_inbox_duplicates_total{${sandbox},conflict="${conflict}"}`),
      ...['arrival', 'webhook', 'task', 'event', 'cron'].map(
        (kind) => `svc_inbox_received_total{${sandbox},kind="${kind}"}`,
      ),
      `svc_presses_refused_total{${sandbox}}`,
      `svc_reactions_dropped_total{${sandbox}}`,
      'svc_plugin_failures_total{plugin="root/counting"}',
      'svc_log_messages_total{level="fatal"}',
      ...['done', 'failed', 'cancelled', 'skipped'].map(
        (outcome) => `svc_job_runs_total{job="tea",outcome="${outcome}"}`,
      ),
      'svc_jobs_missed_total{job="tea"}',
      ...['accepted', 'not_allowed', 'item_blocked', 'stream_quarantined'].map(
        (outcome) => `svc_workroom_commands_total{outcome="${outcome}"}`,
      ),
      ...['begun', 'checked', 'started', 'accepted', 'observing', 'finished', 'rolled_back'].map(
        (state) => `svc_release_state{state="${state}"}`,
      ),
      ...['good', 'bad', 'unclear'].map((verdict) => `svc_release_verdict{verdict="${verdict}"}`),
      ...['damaged', 'failed', 'unknown'].map((result) => `svc_checkpoint_verify_failures_total{result="${result}"}`),
      'svc_checkpoint_failed',
      'svc_sse_slow_closes_total',
      'svc_http_auth_failures_total',
      'svc_commit_failures_total',
      ...['new', 'old'].flatMap((kind) =>
        ['yes', 'no'].map((paid) => `svc_plugin_counting_orders_total{kind="${kind}",paid="${paid}"}`),
      ),
    ];
    assert.deepEqual(
      expected.filter((series) => !zero.has(series)),
      [],
      text
        .split('\n')
        .filter((line) => !line.startsWith('#'))
        .join('\n'),
    );
    const counters = [...text.matchAll(/^# TYPE (\w+) counter$/gm)].map(([, name = '']) => name);
    assert.deepEqual(
      counters.filter((name) => !new RegExp(`^${name}(\\{.*\\})? \\d`, 'm').test(text)),
      [],
      'counters without a series',
    );
  });
});
