// Each series that an alert or a panel of the pack names is exported by a host that has just started, so that the first event is seen.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate } from '../../../shared/alerts/evaluate.ts';
import { expressionOf } from '../../../shared/alerts/prometheus.ts';
import { ACTIVE_RULES } from '../../../shared/alerts/rules.ts';
import { dashboard, dashboardQueries } from '../../support/alerts/pack.ts';
import { groupedBy, type Sample, samplesOf, selectorsOf, selects } from '../../support/alerts/selectors.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

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

/** Figures of a new host that has every feature. */
async function scrape(t: Cleanup): Promise<{ readonly text: string; readonly samples: readonly Sample[] }> {
  const project = temporaryProject(t, {
    config: { host: { name: 'test', kind: 'workroom' }, http: HTTP, plugins: { sandbox: {}, work: {} } },
  });
  project.write('data/schedule-jobs.json', JOBS);
  const { call } = await running(t, { project });
  await until(async () => (await call('GET', '/api/jobs')).text.includes('"tea"'), { what: 'the job to be taken in' });
  await call('POST', '/api/workroom/commands', { kind: 'board.add', board: 'web', name: 'Web site' });
  await call('POST', '/api/workroom/verify', {});
  const readiness = await call('GET', '/api/system/readiness');
  assert.equal(readiness.status, 200, readiness.text);
  const { text } = await call('GET', '/api/metrics');
  return { text, samples: samplesOf(text) };
}

const missing = (expressions: readonly string[], samples: readonly Sample[]): readonly string[] =>
  expressions.flatMap((expression) => {
    const selectors = selectorsOf(expression);
    const without = selectors.filter((one) => !samples.some((sample) => selects(one, sample))).map(({ text }) => text);
    const chosen = samples.filter((sample) => selectors.some((one) => selects(one, sample)));
    const labels = groupedBy(expression).filter((label) => chosen.some((sample) => sample.labels[label] === undefined));
    return [...without, ...labels.map((label) => `${expression}: no label ${label}`)];
  });

describe('a host that has just started', () => {
  it('exports each series that an alert names, its counters at 0, and fires none', async (t) => {
    const { text, samples } = await scrape(t);
    const expressions = ACTIVE_RULES.filter(({ shape }) => shape.kind !== 'prometheus').map(expressionOf);
    const counters = new Set([...text.matchAll(/^# TYPE (\w+) counter$/gmu)].map(([, name = '']) => name));
    const named = expressions.flatMap(selectorsOf).filter(({ name }) => counters.has(name));
    const history = {
      times: [0],
      of: (name: string) =>
        samples.filter((one) => one.name === name).map(({ labels, value }) => ({ labels, values: [value] })),
    };

    assert.deepEqual(missing(expressions, samples), []);
    assert.deepEqual(
      samples.filter((sample) => named.some((one) => selects(one, sample)) && sample.value !== 0),
      [],
    );
    assert.deepEqual(
      ACTIVE_RULES.filter((rule) => evaluate(rule, history).found.size > 0).map(({ name }) => name),
      [],
    );
  });

  it('exports each series that a panel or a variable of the dashboard names', async (t) => {
    const { samples } = await scrape(t);

    assert.deepEqual(missing(dashboardQueries(dashboard()), samples), []);
  });
});

describe('the search for series that nobody exports', () => {
  it('finds a name, a value of a label and a label that are not there', () => {
    const samples = samplesOf('svc_ready{project="test"} 1\nsvc_gaps_total{reason="ahead",project="test"} 0\n');

    assert.deepEqual(missing(['svc_ready{job=~"$job",project=~"$project"} == 0'], samples), []);
    assert.deepEqual(
      missing(['sum by (project, reason) (increase(svc_gaps_total{reason=~"ahead|x"}[5m]))'], samples),
      [],
    );
    assert.deepEqual(missing(['svc_redy == 0'], samples), ['svc_redy']);
    assert.deepEqual(missing(['svc_gaps_total{reason="expired"} > 0'], samples), ['svc_gaps_total{reason="expired"}']);
    assert.deepEqual(missing(['sum by (project, code) (svc_ready)'], samples), [
      'sum by (project, code) (svc_ready): no label code',
    ]);
  });
});
