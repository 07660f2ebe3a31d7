// `svc config check`, `show` and `schema`, run as the CLI runs them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { command as check } from '../../supervisor/cli/commands/config/check.ts';
import { command as schema } from '../../supervisor/cli/commands/config/schema.ts';
import { command as show } from '../../supervisor/cli/commands/config/show.ts';
import { commandContext } from '../support/commands/command-context.ts';
import { temporaryProject } from '../support/temporary-project.ts';

const OPTIONS = { mode: 'production' };

describe('svc config check', () => {
  it('says that a configuration is valid, and warns', async (t) => {
    const project = temporaryProject(t, { env: { ODD: 'a b' } });
    const { context, output } = commandContext({ cwd: project.path });

    assert.equal(await check.run(context, [], OPTIONS), EXIT.ok);
    assert.match(output.texts.join('\n'), /^svc\.config\.yml is valid \(sha256:/);
    assert.match(output.notes.join('\n'), /^warning: \.env:3:1 other tools/);
  });

  it('ends in 78 with a line a fault', async (t) => {
    const project = temporaryProject(t, { config: 'http:\n  token: ${HTTP_TOKEN}\n  prot: 1\nlog_level: x\n' });
    const { context, output } = commandContext({ cwd: project.path });

    assert.equal(await check.run(context, [], OPTIONS), EXIT.config);
    assert.deepEqual(
      output.notes.slice(0, 2).map((line) => line.slice(0, 36)),
      ['svc.config.yml:3:3 http.prot is not ', 'svc.config.yml:4:1 log_level must be'],
    );
    assert.deepEqual(output.texts, []);
  });

  it('prints one document, good or bad', async (t) => {
    const project = temporaryProject(t);
    const good = commandContext({ cwd: project.path, json: true });
    await check.run(good.context, [], OPTIONS);
    project.write('svc.config.yml', 'http:\n  token: abc\n');
    const bad = commandContext({ cwd: project.path, json: true });

    assert.equal(await check.run(bad.context, [], OPTIONS), EXIT.config);
    assert.equal((good.output.documents as [{ ok: boolean }])[0].ok, true);
    assert.deepEqual(bad.output.documents, [
      {
        ok: false,
        error: {
          code: 'secret_invalid',
          message: 'svc.config.yml:2:3 http.token must be a reference like ${NAME}, not the secret itself',
          hint: 'Set the variable in .env or in the environment; `svc init` makes a token.',
        },
        faults: [
          {
            file: 'svc.config.yml',
            line: 2,
            column: 3,
            path: '/http/token',
            message: 'must be a reference like ${NAME}, not the secret itself',
          },
        ],
        warnings: [],
      },
    ]);
  });

  for (const [what, plugins, told] of [
    [
      'a slot',
      '  ehco: {}',
      /svc\.config\.yml:4:3 plugins\.ehco names no plugin: "ehco" is not built in .*; did you mean echo\?/,
    ],
    [
      '`use`',
      '  say:\n    use: telegrm',
      /svc\.config\.yml:5:5 plugins\.say\.use names no plugin: "telegrm" is .*did you mean telegram\?/,
    ],
    ['a package', '  own: {use: svc-plugin-gretr}', /svc\.config\.yml:4:9 .*; did you mean svc-plugin-greeter\?/],
    [
      'something far off',
      '  own: {use: nothing-like-it}',
      /svc\.config\.yml:4:9 .*not an installed package; a file of the project begins with \.\/$/m,
    ],
    [
      'a file',
      '  own: {use: ./plugins/own}',
      /svc\.config\.yml:4:9 plugins\.own\.use names no plugin: nothing is at \.\/plugins\/own: looked for/,
    ],
  ] as const)
    it(`tells the place of ${what} that names no plugin, and the nearest name`, async (t) => {
      const project = temporaryProject(t, { config: `http:\n  token: \${HTTP_TOKEN}\nplugins:\n${plugins}\n` });
      project.write('package.json', '{"dependencies":{"svc-plugin-greeter":"1.0.0"}}');
      const { context, output } = commandContext({ cwd: project.path });

      await check.run(context, [], OPTIONS);

      assert.match(output.notes.join('\n'), told);
    });

  it('refuses a mode that is none', async (t) => {
    const { context } = commandContext({ cwd: temporaryProject(t).path });

    await assert.rejects(check.run(context, [], { mode: 'prod' }), { code: 'usage' });
  });
});

describe('svc config show', () => {
  const CONFIG = [
    'http:',
    '  port: ${PORT}',
    '  token: ${HTTP_TOKEN}',
    'plugins:',
    '  irc:',
    '    endpoints:',
    '      - {id: a, server: irc.example, password: "${IRC_PASSWORD}", apiKey: by-mistake}',
    '',
  ].join('\n');
  const ENV = { PORT: '8100', IRC_PASSWORD: 'sesame-open' };

  it('prints values with their sources, and no secret', async (t) => {
    const project = temporaryProject(t, { config: CONFIG, env: { IRC_PASSWORD: ENV.IRC_PASSWORD } });
    const { context, output } = commandContext({ cwd: project.path, env: { PORT: ENV.PORT } });

    assert.equal(await show.run(context, [], OPTIONS), EXIT.ok);

    const text = output.texts.join('\n');
    for (const line of [
      '  port: 8100 # env PORT (process)',
      '  token: ${HTTP_TOKEN} # env HTTP_TOKEN (.env)',
      '  host: 127.0.0.1 # default',
      '        server: irc.example # file',
      '        password: ${IRC_PASSWORD} # env IRC_PASSWORD (.env)',
      '        apiKey: "[secret]" # file',
    ]) {
      assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
    }
    assert.doesNotMatch(text, new RegExp(`sesame|by-mistake|${project.token}`));
  });

  it('prints one document with the source of each path', async (t) => {
    const project = temporaryProject(t, { config: CONFIG, env: ENV });
    const { context, output } = commandContext({ cwd: project.path, json: true });

    await show.run(context, [], OPTIONS);

    const [document] = output.documents as [
      { config: { http: { port: number; token: string } }; sources: Record<string, unknown> },
    ];
    assert.deepEqual([document.config.http.port, document.config.http.token], [8_100, '${HTTP_TOKEN}']);
    assert.deepEqual(
      [document.sources['/http/port'], document.sources['/http/host']],
      [{ source: 'env', variables: ['PORT'] }, { source: 'default' }],
    );
    assert.doesNotMatch(JSON.stringify(document), new RegExp(`sesame|by-mistake|${project.token}`));
  });

  it('prints YAML that is a configuration itself', async (t) => {
    const project = temporaryProject(t, {
      config:
        'host: {name: "a $${b} c"}\nhttp: {token: "${HTTP_TOKEN}"}\nplugins: {x: {text: "$${y}", n: "${N:-3}"}}\n',
    });
    const first = commandContext({ cwd: project.path });
    await show.run(first.context, [], OPTIONS);
    project.write('svc.config.yml', first.output.texts.join('\n'));
    const second = commandContext({ cwd: project.path });

    await show.run(second.context, [], OPTIONS);

    assert.deepEqual(parse(second.output.texts.join('\n')), parse(first.output.texts.join('\n')));
    assert.match(first.output.texts.join('\n'), /name: a \$\$\{b\} c # file/);
  });
});

describe('svc config schema', () => {
  it('prints the schema for editors', async (t) => {
    const { context, output } = commandContext({ cwd: temporaryProject(t).path, json: true });

    assert.equal(await schema.run(context, [], {}), EXIT.ok);
    assert.equal((output.documents as [{ title: string }])[0].title, 'svc.config.yml');
  });
});
