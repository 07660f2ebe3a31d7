// What `svc config check` finds in slots and accounts beyond the first fault, without a network.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { command as check } from '../../supervisor/cli/commands/config/check.ts';
import { commandContext } from '../support/commands/command-context.ts';
import { temporaryProject } from '../support/temporary-project.ts';

const TOKEN = `12345:${'a'.repeat(35)}`;
const ENV = { ONE: TOKEN, SAME: TOKEN, OTHER: `67890:${'b'.repeat(35)}`, BAD: 'no-token', WHSEC: 'abc' };

/** Without the colours of a terminal. */
const plain = (note: string): string => note.replaceAll(/\u001B\[\d+m/g, '');

async function checked(
  t: TestContext,
  plugins: string,
  { mode = 'production', plugins: sources }: { mode?: string; plugins?: Record<string, string> } = {},
) {
  const config = `http:\n  token: \${HTTP_TOKEN}\nplugins:\n${plugins}\n`;
  const project = temporaryProject(t, { config, env: ENV, ...(sources === undefined ? {} : { plugins: sources }) });
  const text = commandContext({ cwd: project.path });
  const code = await check.run(text.context, [], { mode });
  const json = commandContext({ cwd: project.path, json: true });
  await check.run(json.context, [], { mode });
  const [document] = json.output.documents as [{ ok: boolean; faults: { path: string }[]; warnings: string[] }];
  return { code, notes: text.output.notes, document };
}

describe('svc config check', () => {
  it('refuses the variable of a secret of a plugin in a key of the host, whichever slot has it', async (t) => {
    const { code, notes } = await checked(
      t,
      [
        '  telegram: { token: "${ONE}" }',
        '  remind: { maxDays: 5 }',
        '  irc: { server: irc.example, nick: "${ONE}" }',
        'host: { name: "bot ${ONE}" }',
      ].join('\n'),
    );

    assert.equal(code, EXIT.config);
    const why = 'takes ONE, which is the secret of plugins.telegram.token, and is shown to others';
    assert.deepEqual(
      notes.filter((note) => note.includes(why)).map((note) => /svc\.config\.yml:\d+:\d+ [\w.]+/.exec(note)?.[0]),
      ['svc.config.yml:7:9 host.name'],
    );
    assert.ok(!notes.join().includes(TOKEN));
  });

  it('names the nearest key of the host, too, in slots and accounts', async (t) => {
    const { notes } = await checked(
      t,
      [
        '  echo: { enabld: false }',
        '  ping: { endponts: [], colour: red }',
        '  remind: { usee: remind, maxDay: 3 }',
        '  irc: { server: irc.example, nick: bot, endpoint: [] }',
        '  telegram: { enabeld: true, endpoints: [{ id: a, token: "${ONE}", Enabeld: false }] }',
      ].join('\n'),
    );

    assert.deepEqual(notes.filter((note) => note.includes('is not a key here')).map(plain), [
      'svc.config.yml:4:11 plugins.echo.enabld is not a key here; did you mean plugins.echo.enabled?',
      'svc.config.yml:5:11 plugins.ping.endponts is not a key here; known are use, enabled',
      'svc.config.yml:5:25 plugins.ping.colour is not a key here; known are use, enabled',
      'svc.config.yml:6:13 plugins.remind.usee is not a key here; did you mean plugins.remind.use?',
      'svc.config.yml:6:27 plugins.remind.maxDay is not a key here; did you mean plugins.remind.maxDays?',
      'svc.config.yml:7:42 plugins.irc.endpoint is not a key here; did you mean plugins.irc.endpoints?',
      'svc.config.yml:8:15 plugins.telegram.enabeld is not a key here; did you mean plugins.telegram.enabled?',
      'svc.config.yml:8:68 plugins.telegram.endpoints[0].Enabeld is not a key here; did you mean plugins.telegram.endpoints[0].enabled?',
    ]);
  });

  it('names the variable whose value does not fit the key of a plugin', async (t) => {
    const { notes } = await checked(t, '  remind: { maxDays: "${NOBODY:-0}" }');

    assert.match(
      notes.map(plain).join('\n'),
      /^svc\.config\.yml:4:13 plugins\.remind\.maxDays must be an integer .*; the default of NOBODY does not fit$/m,
    );
  });

  it('takes one variable for several secrets, and one for several other keys', async (t) => {
    const { code, notes } = await checked(
      t,
      [
        '  telegram: { endpoints: [{ id: a, token: "${ONE}" }, { id: b, token: "${ONE}" }] }',
        '  other: { use: telegram, token: "${ONE}" }',
        '  off: { use: telegram, enabled: false, token: "${ONE}" }',
        '  text: { use: telegram, token: "${SAME}", apiUrl: "http://127.0.0.1:9/${ONE}" }',
        '  remind: { maxDays: "${DAYS:-5}" }',
        'inbox: { bodyDays: "${DAYS:-5}" }',
      ].join('\n'),
    );

    assert.equal(code, EXIT.ok, notes.join('\n'));
  });

  it('tells what is wrong with a slot, and nothing of the variable that it shares with a secret', async (t) => {
    const { document } = await checked(
      t,
      [
        '  telegram: { token: "${ONE}" }',
        '  gone: { use: nothing-like-it, token: "${ONE}" }',
        '  other: { use: telegram, token: "${ONE}", mod: webhook }',
      ].join('\n'),
    );

    assert.deepEqual(
      document.faults.map(({ path }) => path),
      ['/plugins/gone/use', '/plugins/other/mod'],
    );
  });

  it('tells the faults of all slots and accounts, and what else cannot be loaded', async (t) => {
    const { code, notes, document } = await checked(
      t,
      [
        '  remind: { maxDays: none, maxDay: 1 }',
        '  gone: { use: nothing-like-it }',
        '  later: { use: ./plugins/later }',
        '  echo: { endpoints: [] }',
        '  telegram: { endpoints: [{ id: a }, { id: b, token: "${ONE}", mod: webhook }] }',
        '  irc: {}',
      ].join('\n'),
      { plugins: { 'later.ts': '' } },
    );

    assert.equal(code, EXIT.config);
    assert.deepEqual(
      document.faults.map(({ path }) => path),
      [
        '/plugins/remind/maxDays',
        '/plugins/remind/maxDay',
        '/plugins/gone/use',
        '/plugins/echo/endpoints',
        '/plugins/telegram/endpoints/0/token',
        '/plugins/telegram/endpoints/1/mod',
        '/plugins/irc/server',
        '/plugins/irc/nick',
      ],
    );
    assert.match(document.warnings.join('\n'), /nothing is at \.\/plugins\/later: .*; compile it first: npm run build/);
    assert.match(notes.join('\n'), /warning: nothing is at \.\/plugins\/later: /);
  });

  it('refuses accounts that can never work, with place and remedy', async (t) => {
    const { code, notes, document } = await checked(
      t,
      [
        '  onebot11: { endpoints: [{ id: far, mode: forward }, { id: off, mode: forward, enabled: false }] }',
        '  telegram: { token: "${BAD}" }',
        '  hook: { use: webhook, secrets: ["${WHSEC}"] }',
      ].join('\n'),
    );

    assert.equal(code, EXIT.config);
    assert.deepEqual(
      document.faults.map(({ path }) => path),
      ['/plugins/onebot11/endpoints/0', '/plugins/telegram', '/plugins/hook'],
    );
    assert.equal(
      notes[0],
      'svc.config.yml:4:27 plugins.onebot11.endpoints[0] cannot work: mode forward needs the url of the implementation, ws(s)://…; add url: in svc.config.yml and reload',
    );
    assert.ok(!notes.join('\n').includes('no-token') && !JSON.stringify(document).includes('no-token'));
  });

  it('warns of an account that its adapter cannot judge, naming its place', async (t) => {
    const throws = `import { defineAdapter, t } from 'svc';
      export default defineAdapter({ name: 'odd', account: { url: t.string() }, can: { text: { limit: 99, unit: 'bytes', render: 'plain' } },
        fault({ url }) { return new URL(url) && undefined; }, async send() { return { kind: 'sent' }; } });`;
    const { code, document } = await checked(
      t,
      '  odd: { use: ./plugins/odd.js, url: nowhere }\n  remind: { maxDays: 0 }',
      {
        plugins: { 'odd.js': throws },
      },
    );

    assert.equal(code, EXIT.config);
    assert.deepEqual(
      document.faults.map(({ path }) => path),
      ['/plugins/remind/maxDays'],
    );
    assert.match(
      document.warnings.join('\n'),
      /^svc\.config\.yml:4:3 plugins\.odd could not be judged: .*odd failed: Invalid URL$/,
    );
  });

  it('takes what a test start takes: its secrets are made up', async (t) => {
    assert.equal((await checked(t, '  telegram: { token: "${NOT_SET_ANYWHERE}" }', { mode: 'test' })).code, EXIT.ok);
  });

  it('takes accounts of one server and nick for two where port, password or login make them so, as with a bouncer', async (t) => {
    const { code, document } = await checked(
      t,
      [
        '  irc:',
        '    endpoints:',
        '      - { id: a, server: bouncer.lan, nick: bot, channels: ["#a"] }',
        '      - { id: b, server: bouncer.lan, nick: bot, port: 6698 }',
        '      - { id: c, server: bouncer.lan, nick: bot, password: "${ONE}" }',
        '      - { id: d, server: bouncer.lan, nick: bot, sasl: { account: bot/net, password: "${ONE}" } }',
        '      - { id: e, server: bouncer.lan, nick: bot, channels: ["#e"] }',
      ].join('\n'),
    );

    assert.equal(code, EXIT.ok);
    assert.equal(document.warnings?.length, 1);
    assert.match(document.warnings[0] ?? '', /endpoints\[4\] has the server and nick of plugins\.irc\.endpoints\[0\]/);
  });

  it('warns of two accounts that are one at the platform, naming both places', async (t) => {
    const { code, document } = await checked(
      t,
      [
        '  telegram: { endpoints: [{ id: a, token: "${ONE}" }, { id: b, token: "${OTHER}" }, { id: c, token: "${ONE}", enabled: false }] }',
        '  again: { use: telegram, token: "${SAME}" }',
        '  onebot11: { endpoints: [{ id: a, url: "ws://127.0.0.1:1" }, { id: b, url: "ws://127.0.0.1:1" }] }',
        '  sandbox: {}',
      ].join('\n'),
    );

    assert.equal(code, EXIT.ok);
    assert.deepEqual(document.warnings, [
      'svc.config.yml:5:3 plugins.again has the token of plugins.telegram.endpoints[0] (svc.config.yml:4:27): at telegram both are one account: take one out, or give it one of its own',
      'svc.config.yml:6:63 plugins.onebot11.endpoints[1] has the keys of plugins.onebot11.endpoints[0] (svc.config.yml:6:27): at onebot11 both are one account: take one out, or give it one of its own',
    ]);
  });
});
