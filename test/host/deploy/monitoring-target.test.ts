// The files of `svc deploy init monitoring`: what they take from the project, and from nowhere else. `kits/deploy/monitoring` gives them to Prometheus.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { headOf, templateHash } from '../../../supervisor/cli/deploy/template.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';
import { guideLines } from '../../support/deploy/guide-blocks.ts';

const FILES = ['scrape.yml', 'alerts.yml', 'alerts.test.yml', 'alertmanager.yml', 'dashboard.json', 'runbook.md'];

interface Job {
  readonly metrics_path: string;
  readonly authorization: { readonly credentials_file: string };
  readonly static_configs: readonly {
    readonly targets: readonly string[];
    readonly labels: { readonly project: string };
  }[];
}

const fileOf = (folder: string, name: string): string => readFileSync(join(folder, 'deploy/monitoring', name), 'utf8');
const jobsOf = (folder: string): readonly Job[] =>
  (parse(fileOf(folder, 'scrape.yml')) as { readonly scrape_configs: readonly Job[] }).scrape_configs;

describe('svc deploy init monitoring', () => {
  it('writes files that are known again, and nothing of this machine', async (t) => {
    const folder = deployFolder(t);
    const { actions, notes, next } = await runDeploy(folder, 'monitoring');

    assert.deepEqual(
      Object.keys(actions),
      FILES.map((name) => `deploy/monitoring/${name}`),
    );
    for (const name of FILES) {
      const text = fileOf(folder, name);
      assert.equal(headOf(text)?.hash, templateHash(`monitoring/${name}`), name);
      assert.doesNotMatch(text, /@[A-Z]+@/u, name);
      assert.equal(text.includes(folder), false, name);
    }
    assert.match(notes.join(), /set http\.demoToken/u);
    assert.deepEqual(['svc deploy init monitoring', ...next], guideLines('monitor.md', 'pack'));
    assert.equal((JSON.parse(fileOf(folder, 'dashboard.json')) as { readonly title: string }).title, 'svc');
  });

  it('names the project as its figures do, whatever stands in its name, and the address where they are', async (t) => {
    const config = {
      host: { name: `bob's "shop": a #1` },
      http: { port: '${HTTP_PORT:-9001}', base: '/bot', publicUrl: 'https://bot.example/bot/', demoToken: '${DEMO}' }, // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    };
    const folder = deployFolder(t, { config: JSON.stringify(config) });
    const { notes } = await runDeploy(folder, 'monitoring');
    const [figures, probe] = jobsOf(folder);

    assert.equal(figures?.metrics_path, '/bot/api/metrics');
    assert.equal(figures.authorization.credentials_file, '/etc/prometheus/svc-acme-my-bot.token');
    assert.deepEqual(figures.static_configs, [{ targets: ['127.0.0.1:9001'], labels: { project: config.host.name } }]);
    assert.deepEqual(probe?.static_configs, [
      { targets: ['https://bot.example/bot/pub/health'], labels: { project: config.host.name } },
    ]);
    assert.deepEqual(notes, []);
  });

  it('takes the name of the package where the configuration has none, and a runbook elsewhere', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'monitoring', { runbook: 'https://wiki.example/svc' });

    assert.equal(jobsOf(folder)[0]?.static_configs[0]?.labels.project, '@acme/My_Bot');
    assert.match(fileOf(folder, 'alerts.yml'), /runbook_url: "https:\/\/wiki\.example\/svc#svcdown"/u);
  });

  it('says how to get a file with the rules of the configuration', async (t) => {
    const config = { alerts: { rules: { SvcErrors: { threshold: 100 } } } };
    const { notes } = await runDeploy(deployFolder(t, { config: JSON.stringify(config) }), 'monitoring');

    assert.match(notes.join(), /svc alerts rules --prometheus/u);
  });
});
