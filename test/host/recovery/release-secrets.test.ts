// What npm prints while new code is checked may hold secrets of the project: none gets into the log, the result, the refusal or what is said.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { releaseFolder } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { checkTree } from '../../../supervisor/cli/release/check-tree.ts';
import { maskedDocument, maskFor } from '../../../supervisor/cli/release/masked.ts';
import { assertClean, canaries, SPELLINGS } from '../../support/recovery/canary-spellings.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

const secrets = canaries();
const SPELLED = Object.entries(secrets)
  .flatMap(([, secret]) => Object.values(SPELLINGS).map((write) => `npm error ${write(secret)} is wrong`))
  .join('\n');
const PRINT = `process.stdout.write(require('node:fs').readFileSync('../../../../data/spelled.txt'))`;

function newCode(project: TemporaryProject): string {
  const folder = join(project.path, '..', `${project.path.split('/').at(-1)}-next`);
  mkdirSync(folder);
  const scripts = { build: 'node print.cjs', test: 'node print.cjs && exit 1' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'next', version: '2.0.0', scripts }));
  writeFileSync(join(folder, 'print.cjs'), PRINT);
  return folder;
}

it('no secret that npm prints is in the log of a release, in its result or in its refusal', async (t) => {
  const project = temporaryProject(t, { env: secrets });
  project.write('data/spelled.txt', SPELLED);
  const next = newCode(project);
  const home = mkdtempSync(join(tmpdir(), 'svc-home-')); // npm writes logs there
  t.after(() => [next, home].forEach((folder) => rmSync(folder, { recursive: true, force: true })));
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    npm_config_update_notifier: 'false',
    npm_config_offline: 'true',
  };
  const print = { text() {}, json() {}, line() {}, table() {}, note() {}, color: {} } as never;
  const caller = { project: project.path, context: { env, signal: new AbortController().signal, print } };
  const said: string[] = [];

  const refusal = await checkTree(caller, { name: 'r1', source: { kind: 'folder', value: next } }, (line) =>
    said.push(line),
  ).then(
    () => undefined,
    (error: unknown) => error,
  );

  assert.ok(refusal instanceof SvcError);
  assert.match(refusal.message, /^test of the new code failed: npm error \[secret\] is wrong$/);
  assertClean('the refusal', `${refusal.message} ${refusal.hint}`, secrets);
  assert.deepEqual(
    said.map((line) => line.split(':')[0]),
    ['install', 'build', 'test'],
  );
  assertClean('what is said', said.join('\n'), secrets);
  const log = readFileSync(join(releaseFolder(project.path, 'r1'), 'check.log'), 'utf8');
  assert.equal(log.split('[secret]').length - 1, 2 * SPELLED.split('\n').length, 'by the build and by the tests');
  assertClean('the log', log, secrets);
});

it('texts of a document are masked by the configuration of the project and by that of the new code', (t) => {
  const env = { SHOP: 'value-of-the-shop-0123', OTHER: 'another-value-0123456', PLAIN: 'short' };
  const project = temporaryProject(t, { env });
  const next = temporaryProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    config: { plugins: { shop: { use: './shop.js', key: '${SHOP}', word: '${PLAIN}' } } },
  });
  const document = { a: [env.SHOP, { b: `x ${env.OTHER}`, c: env.PLAIN }], d: 1, e: null, f: project.token };

  const known = maskFor({ project: project.path, env: {}, tree: next.path });
  const broken = maskFor({ project: project.path, env: { SHOP_TOKEN: env.OTHER }, tree: '/nonexistent' });

  assert.deepEqual(maskedDocument(document, known), {
    a: ['[secret]', { b: `x ${env.OTHER}`, c: env.PLAIN }],
    d: 1,
    e: null,
    f: '[secret]',
  });
  assert.equal(broken(`${env.OTHER} ${env.SHOP}`), `[secret] ${env.SHOP}`);
});
