// The README and the pages for operators: configurations that a host takes, commands and options that there are.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COMMANDS, loadCommand } from '../../supervisor/cli/commands.ts';
import { checkProject } from '../../worker/task.ts';
import { temporaryProject } from '../support/temporary-project.ts';

const ROOT = new URL('../../', import.meta.url);
const PAGES = ['README.md', ...readdirSync(new URL('deploy/guide/', ROOT)).map((name) => `deploy/guide/${name}`)]
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(new URL(name, ROOT), 'utf8') }));
/** Options of every command. */
const COMMON = ['--json', '--project', '--help', '--debug', '--no-color'];

interface Named {
  readonly noun: string;
  readonly verbs: readonly string[];
  readonly options: readonly string[];
  readonly where: string;
}

/** Commands in code spans and in lines of shell; a table has several verbs with bars between them. */
function commandsOf({ name, text }: { readonly name: string; readonly text: string }): Named[] {
  const shell = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, lines = '']) => lines.split('\n'));
  const spans = [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return [...shell, ...spans].flatMap((code) => {
    const [, noun, verbs = '', rest = ''] =
      /^(?:sudo |npx |\w+=\S+ )*svc ([a-z]+) ?([a-z-]+(?:\\\|[a-z-]+)*)?(.*)$/.exec(code) ?? [];
    if (noun === undefined) return [];
    const options = [...rest.matchAll(/(?<=^|\s)--[a-z-]+/g)].map(([option]) => option);
    return [{ noun, verbs: verbs === '' ? [] : verbs.split('\\|'), options, where: `${name}: ${code}` }];
  });
}

describe('README and the pages for operators', () => {
  it('show configurations that are valid, the keys of plugins included', async (t) => {
    const configs = PAGES.flatMap(({ text }) => [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml));

    assert.ok(configs.length > 0);
    for (const config of configs) {
      const project = temporaryProject(t, { config: config ?? '' });
      const { warnings } = await checkProject({ project: project.path, mode: 'test', environment: {} });
      assert.deepEqual(warnings, [], config);
    }
  });

  it('name only commands and options that there are', async () => {
    const named = PAGES.flatMap(commandsOf);
    const wrong: string[] = [];
    for (const { noun, verbs, options, where } of named) {
      const ofNoun = COMMANDS.filter((command) => command.noun === noun);
      const takesArguments = ofNoun.some(({ verb }) => verb === undefined);
      const found =
        takesArguments || verbs.length === 0 ? ofNoun : verbs.map((verb) => ofNoun.find((one) => one.verb === verb));
      if (found.length === 0 || found.includes(undefined)) wrong.push(where);
      const commands = await Promise.all(found.filter((one) => one !== undefined).map(loadCommand));
      const known = commands.flatMap((command) => (command.options ?? []).flatMap(({ flags }) => flags.split(/[ ,]+/)));
      if (options.some((option) => ![...COMMON, ...known].includes(option))) wrong.push(where);
    }

    assert.ok(named.length > 90, String(named.length));
    assert.deepEqual(wrong, []);
  });
});
