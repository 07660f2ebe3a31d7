import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import { faultsOf, GOOD_TOKEN, loadText } from '../../support/load-text.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const HTTP = 'http:\n  token: ${HTTP_TOKEN}\n';
const ENV = { LEVEL: 'loud', NEGATIVE: '-5', BASE: 'bots/' };

describe('a fault of the configuration', () => {
  const told = (name: string, text: string, expected: string): void => {
    it(name, (t) => {
      assert.equal(faultsOf(() => loadText(t, text, { env: ENV })).error.message, `svc.config.yml:${expected}`);
    });
  };

  told(
    'names the variable whose value is none of the words',
    `${HTTP}log_level: \${LEVEL}\n`,
    '3:1 log_level must be one of trace, debug, info, warn, error, fatal, silent; the value of LEVEL does not fit',
  );
  const BLANK = '; a blank is missing behind';
  const YAML = 'is not valid YAML:';
  told(
    'says that the only key of a group needs a blank behind its colon',
    'http:\n  token:${HTTP_TOKEN}\n',
    `1:1 http must be a group of keys; the value of HTTP_TOKEN does not fit${BLANK} token:`,
  );
  told(
    'says that the last key of a group needs a blank behind its colon',
    'http:\n  port: 8068\n  token:${HTTP_TOKEN}\n',
    `3:3 ${YAML} Implicit map keys need to be followed by map values${BLANK} token:`,
  );
  told(
    'says that the first key of a group needs a blank behind its colon',
    'http:\n  token:${HTTP_TOKEN}\n  port: 8068\n',
    `2:3 ${YAML} Implicit keys need to be on a single line${BLANK} token:`,
  );
  told(
    'says that a key in braces needs a blank behind its colon',
    'http: {token:${HTTP_TOKEN}}\n',
    `1:15 ${YAML} Missing , or : between flow map items${BLANK} token:`,
  );
  told(
    'says that the first key in a list needs a blank behind its colon',
    `${HTTP}plugins:\n  irc:\n    endpoints:\n      - id:main\n        server: x\n`,
    `6:9 ${YAML} Implicit keys need to be on a single line${BLANK} id:`,
  );
  told(
    'takes no address for a key without a blank',
    `${HTTP}plugins:\n  irc:\n    https://irc.example\n    port: 1\n`,
    `5:5 ${YAML} Implicit keys need to be on a single line`,
  );
  told(
    'names the variable whose value is out of range',
    `${HTTP}supervisor: { restarts: "\${NEGATIVE}" }\n`,
    '3:15 supervisor.restarts must be an integer from 1 to 100; the value of NEGATIVE does not fit',
  );
  told(
    'names the variable whose default is out of range',
    `${HTTP}supervisor: { restarts: "\${NOBODY:-0}" }\n`,
    '3:15 supervisor.restarts must be an integer from 1 to 100; the default of NOBODY does not fit',
  );
  told(
    'names the variable whose value has another shape',
    `${HTTP}  base: \${BASE}\n`,
    "3:3 http.base does not fit (the value of BASE): Path before everything but /pub/health and /pub/ready, like '/bots'; no slash at the end.",
  );
  told(
    'says that infinity is no number here',
    `${HTTP}supervisor: { restarts: .inf }\n`,
    '3:25 supervisor.restarts is a number past all bounds',
  );
  for (const form of ['${file:/run/secrets/token}', '${HTTP_TOKEN:?missing}', '$HTTP_TOKEN'])
    told(
      `says which form a secret has, where it is written as ${form}`,
      `http:\n  token: "${form}"\n`,
      '2:3 http.token must be a reference like ${NAME}: other forms with $ are not taken',
    );

  it('has the line and column of a byte that is no UTF-8, in the file and in .env', (t) => {
    const project = temporaryProject(t, { config: HTTP, env: { HTTP_TOKEN: GOOD_TOKEN } });
    const load = (): unknown => loadConfig({ project: project.path, mode: 'development', environment: {} });
    const latin1 = Buffer.concat([
      Buffer.from(`${HTTP}host: { name: "\uFFFD caf`),
      Buffer.of(0xe9),
      Buffer.from('" }\n'),
    ]);

    writeFileSync(project.paths.config, latin1);
    assert.equal(faultsOf(load).error.message, 'svc.config.yml:3:21 is not valid UTF-8 here');
    writeFileSync(project.paths.config, HTTP);
    writeFileSync(
      project.paths.env,
      Buffer.concat([Buffer.from(`HTTP_TOKEN=${GOOD_TOKEN}\nA=`), Buffer.of(0xff, 0x0a)]),
    );
    assert.equal(faultsOf(load).error.message, '.env:2:3 is not valid UTF-8 here');
  });
});
