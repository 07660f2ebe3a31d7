// `svc deploy init monitoring`: the pack for Prometheus, Alertmanager and Grafana. The files name no machine but the address of the host itself.
import { RUNBOOK } from '../../../../shared/alerts/rule.ts';
import { defaultHostName } from '../../../../shared/config/load.ts';
import { projectPaths } from '../../../../shared/files/paths.ts';
import { textOption } from '../../options.ts';
import { DEPLOY_PORT, type DeployProject } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { headLine, template } from '../template.ts';

const FOLDER = 'monitoring';

export const target: DeployTarget = {
  name: 'monitoring',
  summary: 'scrape.yml, alerts.yml with tests, alertmanager.yml, dashboard.json for Grafana, runbook.md',
  options: ['runbook'],
  plan({ project, options }) {
    const fields = { ...fieldsOf(project), RUNBOOK: textOption(options, 'runbook') ?? RUNBOOK };
    const file = (name: string) => ({
      path: `deploy/${FOLDER}/${name}`,
      text: fileText(name, fields),
      mode: 0o644 as const,
    });
    return {
      files: ['scrape.yml', 'alerts.yml', 'alerts.test.yml', 'alertmanager.yml', 'dashboard.json', 'runbook.md'].map(
        file,
      ),
      next: [
        'promtool check config --syntax-only deploy/monitoring/scrape.yml',
        'promtool check rules deploy/monitoring/alerts.yml',
        'promtool test rules deploy/monitoring/alerts.test.yml',
        'amtool check-config deploy/monitoring/alertmanager.yml',
      ],
      notes: notesOf(project),
    };
  },
};

type Fields = Readonly<Record<string, string>>;

/** Each kind of file takes the head as a comment of its own. JSON has none, so the dashboard's description is it. */
function fileText(name: string, fields: Fields): string {
  const path = `${FOLDER}/${name}`;
  const head = headLine(path);
  if (name.endsWith('.json')) return filled(template(path), { HEAD: head });
  if (name.endsWith('.md')) return `<!-- ${head} -->\n${template(path)}`;
  return `# ${head}\n${filled(template(path), fields)}`;
}

/** Places stand inside of double quotes. A name may hold anything, and a string of JSON is one of YAML. */
const filled = (text: string, fields: Fields): string =>
  text.replaceAll(/@([A-Z]+)@/gu, (place, name: string) => JSON.stringify(fields[name] ?? place).slice(1, -1));

function fieldsOf({ folder, name, raw }: DeployProject): Fields {
  const host = raw(['host', 'name']);
  const port = String(raw(['http', 'port']) ?? DEPLOY_PORT);
  const number = /^\d+$/u.test(port) ? port : (/:-(\d+)\}$/u.exec(port)?.[1] ?? String(DEPLOY_PORT));
  const base = String(raw(['http', 'base']) ?? '');
  const url = raw(['http', 'publicUrl']);
  return {
    NAME: name,
    PROJECT: isPlain(host) ? host : defaultHostName(projectPaths(folder)),
    PORT: number,
    BASE: isPlain(base) ? base.replace(/\/$/u, '') : '',
    URL: isPlain(url) ? url.replace(/\/$/u, '') : `http://127.0.0.1:${number}`,
  };
}

/** Text without a reference, which is resolved only where the host runs. */
const isPlain = (value: unknown): value is string => typeof value === 'string' && value !== '' && !value.includes('${');

function notesOf({ raw }: DeployProject): readonly string[] {
  return [
    ...(raw(['http', 'demoToken']) === undefined
      ? ['Prometheus needs a token: set http.demoToken (svc token create makes one), or give it the full one.']
      : []),
    ...(raw(['alerts', 'rules']) === undefined
      ? []
      : [
          'alerts.yml has the rules as svc has them. With your alerts.rules: svc alerts rules --prometheus > deploy/monitoring/alerts.yml',
        ]),
  ];
}
