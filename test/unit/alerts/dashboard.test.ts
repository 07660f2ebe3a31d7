// The dashboard for Grafana, which is not run here: its own rules, and those of Grafana's model that a person would trip over.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dashboard, dashboardQueries, type Panel } from '../../support/alerts/pack.ts';

const { panels, templating } = dashboard();
const COLUMNS = 24;
/** Units of Grafana that the panels use. */
const UNITS = new Set(['short', 'none', 's', 'ops', 'bytes']);

const overlap = (a: Panel['gridPos'], b: Panel['gridPos']): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

describe('the dashboard', () => {
  it('has a title, a unit and a description on each panel, and a name on each line', () => {
    assert.deepEqual(
      panels
        .filter(
          ({ title, description, fieldConfig, targets }) =>
            title === '' ||
            !description.endsWith('.') ||
            !UNITS.has(fieldConfig.defaults.unit) ||
            targets.some(({ legendFormat }) => legendFormat === ''),
        )
        .map(({ title }) => title),
      [],
    );
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
  });

  it('answers its questions in order', () => {
    const questions = [
      /^Up$/u,
      /^Endpoints$/u,
      /^Messages in$/u,
      /^Log lines/u,
      /^Commit/u,
      /^Free disk$/u,
      /^Event streams$/u,
      /^Blocked/u,
      /^Runs/u,
      /checkpoint$/u,
    ];
    const at = questions.map((question) => panels.findIndex(({ title }) => question.test(title)));

    assert.deepEqual(
      at,
      at.toSorted((a, b) => a - b),
    );
    assert.equal(at.includes(-1), false);
    assert.deepEqual(
      panels.map(({ gridPos }) => gridPos.y * COLUMNS + gridPos.x),
      panels.map(({ gridPos }) => gridPos.y * COLUMNS + gridPos.x).toSorted((a, b) => a - b),
    );
  });

  it('has panels of their own id and place', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const clashes = panels.flatMap((one, at) =>
      panels
        .slice(at + 1)
        .filter((other) => overlap(one.gridPos, other.gridPos))
        .map(({ title }) => [one.title, title]),
    );
    assert.deepEqual(clashes, []);
    assert.deepEqual(
      panels.filter(({ gridPos: { x, w } }) => x + w > COLUMNS).map(({ title }) => title),
      [],
    );
  });

  it('asks the chosen data source, and narrows each query by job and project', () => {
    assert.deepEqual(
      templating.list.map(({ name }) => name),
      ['datasource', 'job', 'project', 'endpoint'],
    );
    for (const { datasource, targets } of panels)
      for (const one of [{ datasource }, ...targets]) assert.equal(one.datasource.uid, '${datasource}'); // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
    const known = new Set([...templating.list.map(({ name }) => name), '__rate_interval']);
    const used = dashboardQueries(dashboard()).flatMap((query) =>
      [...query.matchAll(/\$(\w+)/gu)].map(([, name = '']) => name),
    );
    assert.deepEqual(
      [...new Set(used)].filter((name) => !known.has(name)),
      [],
    );
    assert.deepEqual(
      panels.flatMap(({ targets }) => targets).filter(({ expr }) => !/job=~"\$job",project=~"\$project"/u.test(expr)),
      [],
    );
  });

  it('takes the probe from outside for no host, where all jobs are chosen', () => {
    const ups = dashboardQueries(dashboard()).filter((query) => /\bup\{/u.test(query));

    assert.equal(ups.length, 1);
    assert.deepEqual(
      ups.filter((query) => !query.includes('job!="svc-probe"')),
      [],
    );
  });
});
