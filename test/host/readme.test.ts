import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COMMANDS } from '../../supervisor/cli/commands.ts';
import { checkProject } from '../../worker/task.ts';
import { temporaryProject } from '../support/temporary-project.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

describe('README', () => {
  it('shows a configuration that is valid, the keys of plugins included', async (t) => {
    const config = /```yaml\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
    const project = temporaryProject(t, { config });

    const { warnings } = await checkProject({ project: project.path, mode: 'test', environment: {} });

    assert.match(config, /plugins:/);
    assert.deepEqual(warnings, []);
  });

  it('names only commands that there are', () => {
    const known = new Set(COMMANDS.map(({ noun, verb }) => [noun, verb].filter(Boolean).join(' ')));
    const rows = [...README.matchAll(/^\| `svc ([a-z]+)(?: ([a-z|\\-]+))?/gm)];

    const named = rows.flatMap(([, noun = '', verbs = '']) =>
      verbs === '' || noun === 'help' ? [] : verbs.split('\\|').map((verb) => `${noun} ${verb}`),
    );

    assert.ok(named.length > 15, named.join(', '));
    assert.deepEqual(
      named.filter((command) => !known.has(command)),
      [],
    );
  });
});
