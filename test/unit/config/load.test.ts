import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { loadConfig } from '../../../shared/config/load.ts';
import { ERRORS } from '../../../shared/error-codes.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { Secret } from '../../../shared/secret.ts';
import { faultsOf, GOOD_TOKEN, loadText } from '../../support/load-text.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const GOOD = 'http:\n  token: ${HTTP_TOKEN}\n';

describe('loadConfig', () => {
  it('fills in every default', (t) => {
    const { config, warnings } = loadText(t, GOOD);

    assert.equal(config.log_level, 'info');
    assert.deepEqual([config.http.host, config.http.port, config.http.base], ['127.0.0.1', 8_068, '']);
    assert.deepEqual(config.database, { dialect: 'sqlite', filename: '.svc/data.sqlite' });
    assert.deepEqual(config.events.history, { maxEvents: 100_000, maxBytes: 268_435_456, maxAgeHours: 72 });
    assert.equal(config.http.limits.streamsPerToken, 100);
    assert.deepEqual([config.supervisor.restarts, config.supervisor.windowSeconds], [5, 120]);
    assert.deepEqual([config.host.kind, config.host.name], ['bot', 'test-project']);
    assert.deepEqual(
      [config.commands.prefix, config.schedule.timezone, config.outbox.onUnknown],
      ['/', 'UTC', 'resend'],
    );
    assert.deepEqual(config.http.readiness, { database: true, endpoints: [], agents: [], workroom: true });
    assert.deepEqual(warnings, []);
  });

  it('loads the minimum configuration of the repository as it is', () => {
    const loaded = loadConfig({
      project: fileURLToPath(new URL('../../../', import.meta.url)),
      mode: 'development',
      environment: { HTTP_TOKEN: GOOD_TOKEN },
    });

    assert.deepEqual(Object.keys(loaded.config.plugins), ['sandbox', 'help', 'echo', 'ping', 'remind']);
    assert.equal(loaded.config.http.port, 8_068);
  });

  it('tells all faults at once, in the order of the file', (t) => {
    const text =
      'log_level: loud\nhttp:\n  port: abc\n  hots: x\n  token: ${HTTP_TOKEN}\n  corsOrigins: ["*"]\nschedule:\n  timezone: Mars/Olympus\nplugins:\n  Echo: {}\n';

    const { error, places } = faultsOf(() => loadText(t, text));

    assert.deepEqual(places, [
      '1:1 /log_level',
      '3:3 /http/port',
      '4:3 /http/hots',
      '6:17 /http/corsOrigins/0',
      '8:3 /schedule/timezone',
      '10:3 /plugins/Echo',
    ]);
    assert.equal(
      error.message,
      [
        'svc.config.yml:1:1 log_level must be one of trace, debug, info, warn, error, fatal, silent, not loud',
        'svc.config.yml:3:3 http.port must be an integer from 1 to 65535, not abc',
        'svc.config.yml:4:3 http.hots is not a key here; did you mean http.host?',
        'svc.config.yml:6:17 http.corsOrigins[0] must name each origin; * is not taken',
        "svc.config.yml:8:3 schedule.timezone must be an IANA name of a time zone, like 'Europe/Berlin'",
        'svc.config.yml:10:3 plugins.Echo Echo is not a name that is taken here: a small letter, then small letters, digits and dashes, 63 at most',
      ].join('\n'),
    );
  });

  for (const [key, yaml, env] of [
    ['host.name', 'host: {name: "a\\u001b[2Jb"}', {}],
    ['host.name', 'host: {name: "a\\nb"}', {}],
    ['host.name', 'host: {name: "${NAME}"}', { NAME: 'a\u0007b' }],
    ['host.name', 'host: {name: "a\\u0085b"}', {}],
    ['database.filename', 'database: {filename: "data/a\\rb.sqlite"}', {}],
    ['plugins.own.use', 'plugins: {own: {use: "./plugins/own\\u0000"}}', {}],
    ['http.readiness.agents[0]', 'http: {token: "${HTTP_TOKEN}", readiness: {agents: ["a\\tb"]}}', {}],
    ['commands.prefix', 'commands: {prefix: "\\u0001"}', {}],
  ] as const)
    it(`refuses control characters in ${key}, and shows none: ${yaml}`, (t) => {
      const { error, faults } = faultsOf(() => loadText(t, `${yaml}\n${key.startsWith('http') ? '' : GOOD}`, { env }));

      assert.equal(faults.length, 1, error.message);
      assert.match(error.message, /^svc\.config\.yml:1:\d+ \S+ must be text without control characters$/);
      assert.ok(error.message.includes(` ${key} `), error.message);
    });

  it('says how an id is written that is too long for a number', (t) => {
    const text = `${GOOD}plugins:\n  discord:\n    endpoints: [{ id: main, applicationId: 845027738276462632 }]\n`;

    const { error } = faultsOf(() => loadText(t, text));

    assert.match(
      error.message,
      /:5:\d+ plugins\.discord\.endpoints\[0\]\.applicationId is a number .*: an id is written in quotes$/m,
    );
  });

  it('refuses control characters in http.host', (t) => {
    const { error } = faultsOf(() => loadText(t, 'http: {token: "${HTTP_TOKEN}", host: "127.0.0.1\\n"}\n'));

    assert.match(error.message, /^svc\.config\.yml:1:\d+ http\.host must be an IP literal, like 127\.0\.0\.1 or ::1$/);
  });

  it('takes names in any script, and joined signs', (t) => {
    assert.equal(loadText(t, `host: {name: "Zoë 猫 👩‍💻"}\n${GOOD}`).config.host.name, 'Zoë 猫 👩‍💻');
  });

  it('makes a plain name of a package or folder that holds control characters', (t) => {
    const project = temporaryProject(t, { config: GOOD });
    project.write('package.json', '{"name":"a\\u001b[2J\\nb"}');
    const environment = { HTTP_TOKEN: GOOD_TOKEN };

    const { config } = loadConfig({ project: project.path, mode: 'production', environment });

    assert.equal(config.host.name, 'a [2J b');
  });

  it('names the key of another group', (t) => {
    assert.match(
      faultsOf(() => loadText(t, `${GOOD}port: 80\n`)).error.message,
      /^svc\.config\.yml:3:1 port is not a key here; did you mean http\.port\?$/,
    );
  });

  it('gives a value that is one reference the type of its key', (t) => {
    const { config } = loadText(t, `${GOOD}  port: \${PORT}\n  readiness:\n    database: \${DB:-false}\n`, {
      env: { PORT: '9000' },
    });

    assert.deepEqual([config.http.port, config.http.readiness.database], [9_000, false]);
  });

  it('does not show what a variable holds', (t) => {
    const { error } = faultsOf(() =>
      loadText(t, `${GOOD}  port: \${PORT}\nlog_level: \${LEVEL}\n`, { env: { PORT: 'sesame-1', LEVEL: 'sesame-2' } }),
    );

    assert.match(
      error.message,
      /3:3 http\.port must be an integer from 1 to 65535; the value of PORT does not read as one/,
    );
    assert.doesNotMatch(inspect(error, { depth: 9 }), /sesame/);
  });

  it('names key and variable of an unset reference', (t) => {
    const { error } = faultsOf(() => loadText(t, `${GOOD}host:\n  name: bot of \${OWNER}\n`));

    assert.match(error.message, /^svc\.config\.yml:4:3 host\.name needs the variable OWNER, which is not set$/);
  });

  it('names the line of .env that may keep a token from being set, without its text', (t) => {
    const project = temporaryProject(t, { config: GOOD });
    project.write('.env', 'HTTP_TOKEN: my secret note\n');
    chmodSync(`${project.path}/.env`, 0o600);

    const { error } = faultsOf(() => loadConfig({ project: project.path, mode: 'production', environment: {} }));

    assert.match(error.message, /needs the variable HTTP_TOKEN, which is not set$/);
    assert.match(
      `${error.hint}`,
      /makes a token\. \.env:1:1 other tools may read this line differently: write NAME=value/,
    );
    assert.doesNotMatch(`${error.hint}`, /secret note/);
  });

  it('does not let a variable bring YAML in', (t) => {
    const yaml = `${GOOD}host:\n  name: \${NAME}\nplugins:\n  own:\n    text: \${NAME}\n    line: \${LINE}\n`;
    const { config } = loadText(t, yaml, { env: { NAME: '{a: 1} ${HTTP_TOKEN}', LINE: '{a: 1}\n${HTTP_TOKEN}' } });

    assert.equal(config.host.name, '{a: 1} ${HTTP_TOKEN}');
    assert.equal(config.plugins['own']?.['text'], '{a: 1} ${HTTP_TOKEN}');
    assert.equal(config.plugins['own']?.['line'], '{a: 1}\n${HTTP_TOKEN}');
  });

  it('takes an empty key for one that is not given', (t) => {
    const { config } = loadText(t, `${GOOD}  port:\nplugins:\n  echo:\ninbox:\n`);

    assert.equal(config.http.port, 8_068);
    assert.deepEqual(config.plugins, { echo: { enabled: true } });
  });

  it('wraps secrets, freezes all, and knows sources and places', (t) => {
    const { config, secrets, source, position } = loadText(t, `${GOOD}  port: \${PORT:-8070}\n  base: /x\n`);

    assert.ok(config.http.token instanceof Secret);
    assert.equal(config.http.token.reveal(), GOOD_TOKEN);
    assert.deepEqual(secrets, [GOOD_TOKEN]);
    assert.throws(() => Object.assign(config.http, { port: 1 }), TypeError);
    assert.throws(() => (config.http.tokens as unknown[]).push(1), TypeError);
    assert.deepEqual(
      [source('/http/token'), source('/http/port'), source('/http/base'), source('/http/host')],
      ['env', 'file', 'file', 'default'],
    );
    assert.deepEqual([position('/http/base'), position('/http/host')], [{ line: 4, column: 3 }, undefined]);
    assert.doesNotMatch(JSON.stringify(config) + inspect(config, { depth: 9 }), new RegExp(GOOD_TOKEN));
  });

  it('has the same version for the same values, and holds no secret in it', (t) => {
    const version = (text: string, env = {}): string => loadText(t, text, { env }).version;

    assert.match(version(GOOD), /^sha256:[0-9a-f]{64}$/);
    assert.equal(version(GOOD), version('# x\nhttp: {token: "${HTTP_TOKEN}", port: 8068}\n'));
    assert.equal(version(GOOD), version(GOOD, { HTTP_TOKEN: 'another-token-of-30-characters' }));
    assert.notEqual(version(GOOD), version(`${GOOD}  port: 8069\n`));
  });

  it('keeps the order of slots and the values of plugins', (t) => {
    const { config, references } = loadText(
      t,
      `${GOOD}plugins:\n  zeta: {a: "\${X:-1}"}\n  alpha:\n    endpoints:\n      - {id: one, server: s}\n      - {id: two, enabled: false}\n`,
    );

    assert.deepEqual(Object.keys(config.plugins), ['zeta', 'alpha']);
    assert.deepEqual(config.plugins['alpha']?.endpoints, [
      { id: 'one', server: 's', enabled: true },
      { id: 'two', enabled: false },
    ]);
    assert.deepEqual(references.get('/plugins/zeta/a'), { text: '${X:-1}', whole: true, names: ['X'], taken: [] });
  });
});

describe('cross checks', () => {
  const refused = (name: string, text: string, expected: RegExp): void => {
    it(`refuses ${name}`, (t) => {
      assert.match(faultsOf(() => loadText(t, `${GOOD}${text}`)).error.message, expected);
    });
  };

  refused(
    'a host name',
    '  host: localhost\n',
    /^svc\.config\.yml:3:3 http\.host must be an IP literal.*did you mean 127\.0\.0\.1\?$/,
  );
  refused('a shorthand', '  host: "127.1"\n', /must be an IP literal.*did you mean 127\.0\.0\.1\?$/);
  refused(
    'a zone',
    'schedule: { timezone: Europe/Berln }\n',
    /schedule\.timezone must be.*did you mean Europe\/Berlin\?$/,
  );
  it('refuses port 0 and port 65536', (t) => {
    for (const port of [0, 65_536]) {
      const { error } = faultsOf(() => loadText(t, `${GOOD}  port: ${port}\n`));
      assert.equal(error.message, `svc.config.yml:3:3 http.port must be an integer from 1 to 65535, not ${port}`);
      assert.equal(ERRORS[error.code].exit, EXIT.config);
    }
  });
  refused('a base with a slash at its end', '  base: /x/\n', /^svc\.config\.yml:3:3 http\.base does not fit \(\/x\/\)/);
  refused('a base that climbs', '  base: /../x\n', /http\.base does not fit/);
  refused(
    'an origin with a path',
    '  corsOrigins: [https://a.example/x]\n',
    /http\.corsOrigins\[0\].*did you mean https:\/\/a\.example\?/,
  );
  refused(
    'a proxy that is no address',
    '  trustedProxies: [10.0.0.0/33, proxy]\n',
    /trustedProxies\[0\] must be an IP(.|\n)*trustedProxies\[1\] must be/,
  );
  refused(
    'a double endpoint id',
    'plugins:\n  irc:\n    endpoints: [{id: a}, {id: b}, {id: a}]\n',
    /^svc\.config\.yml:5:\d+ plugins\.irc\.endpoints\[2\]\.id a is the id of another/,
  );
  refused(
    'an endpoint without id',
    'plugins:\n  irc:\n    endpoints: [{server: a}]\n',
    /plugins\.irc\.endpoints\[0\]\.id is missing/,
  );
  refused(
    'a database in memory',
    'database:\n  filename: ":memory:"\n',
    /database\.filename must be the path of a file/,
  );
  for (const file of [
    '.svc/writer.lock',
    './.svc/../.env',
    '.svc/runtime.log.1',
    '.svc/worker.sock',
    'data/media/a',
    '.svc',
  ])
    refused(
      `the database in ${file}, where the host keeps something else`,
      `database:\n  filename: ${file}\n`,
      /^svc\.config\.yml:4:3 database\.filename must be a file of its own: .*; did you mean \.svc\/data\.sqlite\?$/,
    );
  refused(
    'a dialect that is not there yet',
    'database:\n  dialect: mysql\n',
    /database\.dialect must be sqlite, not mysql/,
  );
  refused(
    'texts kept longer than ids',
    'inbox:\n  bodyDays: 31\n',
    /inbox\.bodyDays must not be more than inbox\.idDays \(30\)/,
  );
  refused(
    'an operator without endpoint',
    'commands:\n  operators: [{endpoint: irc, user: ann}]\n',
    /commands\.operators\[0\]\.endpoint must be an endpoint as in events/,
  );
  refused(
    'a selector that is none',
    '  readiness:\n    endpoints: [{owner: irc, name: x}]\n',
    /http\.readiness\.endpoints\[0\]\.owner does not fit/,
  );
  refused(
    'a double selector',
    '  readiness:\n    endpoints: [{owner: root/irc, name: irc}, {owner: root/irc, name: irc}]\n',
    /endpoints\[1\] is given a second time/,
  );
  refused(
    'a number in quotes',
    '  port: "8080"\n',
    /http\.port must be an integer from 1 to 65535, not the text "8080"/,
  );
  refused(
    'a default that does not read',
    '  port: ${NOT_SET:-http}\n',
    /http\.port must be an integer from 1 to 65535; the default of NOT_SET does not read as one/,
  );
  refused('a reference in a default', 'host:\n  name: ${A:-${B}}\n', /host\.name holds a malformed reference/);
  refused('a malformed reference', 'host:\n  name: ${A B}\n', /host\.name holds a malformed reference/);

  it('warns of a port that no browser opens', (t) => {
    const { warnings } = loadText(t, `${GOOD}  port: 10080\n`);

    assert.deepEqual(warnings, [
      'svc.config.yml:3:3 http.port is one that no browser opens: the chat page cannot be reached there',
    ]);
  });

  it('warns of a required endpoint that nothing here brings up', (t) => {
    const text = `${GOOD}  readiness:\n    endpoints: [{owner: root/irc, name: irc~a}, {owner: root/irc, name: irc~b}]\nplugins:\n  irc:\n    endpoints: [{id: a}, {id: b, enabled: false}]\n`;

    const { warnings } = loadText(t, text);

    assert.deepEqual(warnings, [
      'svc.config.yml:4:49 http.readiness.endpoints[1] names an endpoint that no enabled slot here has: the host will not become ready',
    ]);
  });

  it('warns of a required agent binding, which nothing can bring up yet', (t) => {
    const { warnings } = loadText(t, `${GOOD}  readiness:\n    agents: [helper]\n`);

    assert.deepEqual(warnings, [
      'svc.config.yml:4:14 http.readiness.agents[0] names a binding, and this version has none: the host will not become ready',
    ]);
  });

  refused(
    'an origin with a star in its name',
    '  corsOrigins: ["https://*.example"]\n',
    /http\.corsOrigins\[0\] must name each origin; \* is not taken/,
  );

  it('takes addresses, networks and origins that are exact', (t) => {
    const { config } = loadText(
      t,
      `${GOOD}  host: "::1"\n  trustedProxies: [10.0.0.0/8, "fd00::/8", 127.0.0.1]\n  corsOrigins: [https://a.example, http://localhost:3000]\n`,
    );

    assert.equal(config.http.trustedProxies.length, 3);
  });
});
