// The pack for monitoring against the table of rules. After a change of the table or of the cases, run once with UPDATE_SNAPSHOTS=1 and read the
// difference like code.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { prometheusRules } from '../../shared/alerts/prometheus.ts';
import { ACTIVE_RULES, RULES } from '../../shared/alerts/rules.ts';
import { COMMANDS, loadCommand } from '../../supervisor/cli/commands.ts';
import { ALERT_CASES } from '../support/alerts/alert-cases.ts';
import { atChanges, promtoolFile } from '../support/alerts/promtool-file.ts';
import { ROOT } from './source-tree.ts';

const FOLDER = join(ROOT, 'deploy/monitoring');
const RUNBOOK = '@RUNBOOK@';
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

function sameAs(name: string, text: string): void {
  if (process.env['UPDATE_SNAPSHOTS'] === '1') writeFileSync(join(FOLDER, name), text);
  assert.equal(read(name), text);
}

/** Whether svc has the command, and takes as many words before its options as are given: each `<word>`, and `[word]` at will. */
async function canBeTyped(text: string): Promise<boolean> {
  const [noun, ...words] = text.split(' ');
  const verb = COMMANDS.some((one) => one.noun === noun && one.verb === words[0]) ? words.shift() : undefined;
  const entry = COMMANDS.find((one) => one.noun === noun && one.verb === verb);
  if (entry === undefined) return false;
  if (words.includes('--help')) return true;
  const { args = '' } = await loadCommand(entry);
  const options = words.findIndex((word) => word.startsWith('-'));
  const given = options === -1 ? words.length : options;
  const wanted = args.split(' ').filter((arg) => arg !== '');
  const least = wanted.filter((arg) => arg.startsWith('<')).length;
  return given >= least && (given <= wanted.length || args.includes('...'));
}

describe('the pack for monitoring', () => {
  it('has the rules of the table', () => {
    sameAs('alerts.yml', prometheusRules(ACTIVE_RULES, { runbook: RUNBOOK }));
  });

  it('has a case in which each alert fires, and one in which it stays quiet', () => {
    sameAs('alerts.test.yml', promtoolFile({ rulesFile: 'alerts.yml', runbook: RUNBOOK, minutes: atChanges }));
    const missing = ACTIVE_RULES.flatMap(({ name }) => {
      const cases = ALERT_CASES.filter(({ rule }) => rule === name);
      return [cases.some(({ fires }) => fires !== undefined), cases.some(({ fires }) => fires === undefined)].includes(
        false,
      )
        ? [name]
        : [];
    });
    assert.deepEqual(missing, []);
  });

  it('has a section of the runbook for each alert, with meaning, look and do, in the order of the table', () => {
    const sections = read('runbook.md').split(/^## /mu).slice(1);
    const titles = sections.map((section) => section.slice(0, section.indexOf('\n')));
    const short = sections.filter(
      (section) => !/\*\*Meaning\.\*\*[\s\S]*\*\*Look\.\*\*[\s\S]*\*\*Do\.\*\*/u.test(section),
    );

    assert.deepEqual(
      titles,
      ACTIVE_RULES.map(({ name }) => name),
    );
    assert.deepEqual(short, []);
  });

  it('names no command that svc does not have, and none without the words that it requires', async () => {
    const texts = [read('runbook.md'), ...RULES.flatMap(({ description, remedy }) => [description, remedy])];
    const named = texts.flatMap((text) => [...text.matchAll(/`svc ([^`]+)`/gu)].map(([, words = '']) => words));
    const faults = await Promise.all(named.map(async (words) => ((await canBeTyped(words)) ? [] : [words])));

    assert.ok(named.length > 40, String(named.length));
    assert.deepEqual(faults.flat(), []);
  });

  it('would find a command that svc does not have, and one without a word', async () => {
    const wrong = ['inbox mend', 'alerts sillence NAME', 'checkpoint verify', 'checkpoint verify --quick'];
    const right = ['checkpoint verify NAME', 'alerts', 'jobs history', 'jobs history {job}', 'workroom do --help'];
    const typed = async (texts: readonly string[]) => new Set(await Promise.all(texts.map(canBeTyped)));

    assert.deepEqual(await typed(wrong), new Set([false]));
    assert.deepEqual(await typed(right), new Set([true]));
  });

  it('mutes the warnings that the table names', () => {
    const inhibited = [
      ...read('alertmanager.yml').matchAll(
        /source_matchers: \['alertname="(\w+)"'\]\s+target_matchers: \['alertname=~?"([^"]+)"/gu,
      ),
    ];
    const muted = Object.fromEntries(
      inhibited.map(([, source = '', target = '']) => [source, target === 'Svc.+' ? '*' : target]),
    );
    const wanted = ACTIVE_RULES.flatMap(({ name, mutes }) => (mutes === undefined ? [] : [[name, mutes] as const]));

    assert.deepEqual(
      wanted.filter(([name, mutes]) => muted[name] !== mutes),
      [],
    );
  });
});
