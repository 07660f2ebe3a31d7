// The pack for monitoring as `svc deploy init` writes it, given to the programs of Prometheus and Alertmanager.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACTIVE_RULES } from '../../../../shared/alerts/rules.ts';
import { everyMinute, promtoolFile } from '../../../support/alerts/promtool-file.ts';
import { deployFolder, runDeploy } from '../../../support/commands/deploy-run.ts';
import { guideLines } from '../../../support/deploy/guide-blocks.ts';
import { monitoringMissing } from '../../../support/monitoring/programs.ts';
import { runProgram } from '../../../support/process/run-program.ts';
import { svc } from '../../../support/svc-command.ts';
import { temporaryProject } from '../../../support/temporary-project.ts';

const skip = monitoringMissing();
const RUNBOOK = 'https://wiki.example/svc';

it('says whether Prometheus and Alertmanager are here', (t) => {
  t.diagnostic(skip === false ? 'Prometheus and Alertmanager are here' : `not run: ${skip}`);
});

describe('the pack for monitoring', { skip }, () => {
  it('passes the commands that svc deploy init prints', async (t) => {
    const folder = deployFolder(t);
    const { next } = await runDeploy(folder, 'monitoring', { runbook: RUNBOOK });
    for (const line of next) {
      const [program = '', ...words] = line.split(' ');
      const { code, stdout, stderr } = await runProgram(program, words, folder);
      assert.equal(code, 0, `${line}\n${stdout}${stderr}`);
      t.diagnostic(line);
    }
    assert.deepEqual(['svc deploy init monitoring', ...next], guideLines('monitor.md', 'pack'));
  });

  it('has rules with the settings of a project, as svc alerts rules prints them', async (t) => {
    const project = temporaryProject(t, {
      config: {
        alerts: {
          rules: {
            SvcErrors: { threshold: 100, for: '90s', severity: 'critical' },
            SvcBacklog: { threshold: 60.5 },
            SvcJobsMissed: { enabled: false },
          },
        },
      },
    });
    const printed = await svc(['alerts', 'rules', '--prometheus'], { cwd: project.path });
    assert.equal(printed.code, 0, printed.stderr);
    project.write('alerts.yml', printed.stdout);
    const { code, stdout, stderr } = await runProgram('promtool', ['check', 'rules', 'alerts.yml'], project.path);

    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`\\b${ACTIVE_RULES.length - 1} rules found`, 'u'));
    assert.match(printed.stdout, /\) > 100'?"?\n +for: 90s\n/u);
    assert.match(printed.stdout, /> 60\.5 unless/u);
    assert.doesNotMatch(printed.stdout, /SvcJobsMissed/u);
  });

  it('fires at each minute as the evaluator of the host, with the same value, and names the process', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'monitoring', { runbook: RUNBOOK });
    const rulesFile = join(folder, 'deploy/monitoring/alerts.yml');
    const test = (
      name: string,
    ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> => {
      writeFileSync(
        join(folder, 'minutes.yml'),
        promtoolFile({ rulesFile: name, runbook: RUNBOOK, minutes: everyMinute }),
      );
      return runProgram('promtool', ['test', 'rules', 'minutes.yml'], folder);
    };
    const { code, stdout, stderr } = await test(rulesFile);
    assert.equal(code, 0, stdout + stderr);

    const rules = readFileSync(rulesFile, 'utf8');
    mkdirSync(join(folder, 'changed'));
    for (const [what, text] of [
      ['threshold', rules.replace('> 86400', '> 86520')],
      ['for', rules.replace('for: 10m', 'for: 11m')],
      ['window', rules.replaceAll('[15m]', '[14m]')],
      ['label', rules.replaceAll('instance, endpoint)', 'instance)')],
    ] as const) {
      assert.notEqual(text, rules, what);
      const changed = join(folder, 'changed', `${what}.yml`);
      writeFileSync(changed, text);
      assert.notEqual((await test(changed)).code, 0, `a changed ${what} was not seen`);
    }
  });
});
