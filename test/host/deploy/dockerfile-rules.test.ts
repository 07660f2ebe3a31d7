// The rules of the Dockerfile that svc writes: it keeps all, and each of these changes breaks one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';
import { brokenRules, DOCKERFILE_RULES } from '../../support/containers/dockerfile-rules.ts';

const CHECK = /^RUN \["node".*\n/mu;
/** By rule: what is replaced, and by what. */
const BREAKS: Readonly<Record<string, readonly (readonly [string | RegExp, string])[]>> = {
  'each image has a tag or a digest, and none is latest': [
    ['ARG NODE_IMAGE=node:22-bookworm', 'ARG NODE_IMAGE=node'],
    ['RUN_IMAGE=node:22-bookworm-slim', 'RUN_IMAGE=node:latest'],
  ],
  'each image can be replaced by an argument': [['FROM ${RUN_IMAGE}', 'FROM node:22-bookworm-slim']],
  'code is built in another image than it runs in': [['FROM ${RUN_IMAGE}', 'FROM ${NODE_IMAGE}']],
  'nothing is fetched by ADD': [['EXPOSE', 'ADD https://example.org/a /a\nEXPOSE']],
  'no argument and no variable is named like a secret': [
    ['ARG COMMIT', 'ARG NPM_TOKEN\nARG COMMIT'],
    ['ENV PROJECT_COMMIT', 'ENV HTTP_TOKEN=x\nENV PROJECT_COMMIT'],
  ],
  'packages come from the lockfile alone': [['&& npm prune', '&& npm install left && npm prune']],
  'packages are installed before the code is copied': [['RUN npm ci', 'COPY . .\nRUN npm ci']],
  'packages of development are removed': [[/&& npm prune \S+ /u, '&& echo ']],
  'the last image takes files from the first alone': [['USER 10001', 'COPY .env ./\nUSER 10001']],
  'the last image installs nothing and runs no shell': [['USER 10001', 'RUN apt-get install -y curl\nUSER 10001']],
  'code belongs to root, and only state to the user': [
    ['COPY --from=build /app', 'COPY --from=build --chown=10001:10001 /app'],
  ],
  'no file is open to all for writing': [
    ['chmod u=rwX,go=rX {} +', 'chmod 777 {} +'],
    ['chmod u=rwX,go=rX {} +', 'chmod a+rwX {} +'],
  ],
  'the last user is a number other than root': [
    ['USER 10001:10001', 'USER node'],
    ['USER 10001:10001', 'USER 0:0'],
    ['EXPOSE', 'USER root\nEXPOSE'],
  ],
  'the project is assembled once, as that user, while the image is built': [[CHECK, '']],
  'start and health check have the exec form': [
    [/^CMD .*$/mu, 'CMD npm start'],
    [/^HEALTHCHECK .*\n.*$/mu, 'HEALTHCHECK CMD curl -f http://127.0.0.1:8068/pub/health'],
    [/^HEALTHCHECK .*\n.*$/mu, ''],
  ],
};

describe('the Dockerfile', () => {
  it('keeps the rules, and each rule is broken by a change that only it finds', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'compose');
    const text = readFileSync(join(folder, 'Dockerfile'), 'utf8');

    assert.deepEqual(brokenRules(text), []);
    assert.deepEqual(Object.keys(BREAKS), Object.keys(DOCKERFILE_RULES));
    for (const [rule, changes] of Object.entries(BREAKS))
      for (const [from, to] of changes) {
        const broken = text.replace(from, () => to);
        assert.notEqual(broken, text, `${rule}: ${from}`);
        assert.deepEqual(brokenRules(broken), [rule], to);
      }
  });

  it('is found out where it has one image alone', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'compose');
    const text = readFileSync(join(folder, 'Dockerfile'), 'utf8');
    const single = text.replace(/^FROM \$\{RUN_IMAGE\}\nWORKDIR .*\nCOPY .*\nCOPY .*\n/mu, '');

    assert.notEqual(single, text);
    assert.ok(brokenRules(single).includes('code is built in another image than it runs in'));
  });
});
