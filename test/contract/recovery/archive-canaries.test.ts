// Twelve secrets, planted where a project has them and where they were erased: an archive holds none of them, in no spelling.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { exportCheckpoint } from '../../../worker/recovery/archive/export.ts';
import { checkpointOf, partFile, rehash, stoppedWorkroom } from '../../support/recovery/workroom-state.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { withFile } from '../../support/workroom/room.ts';

const canary = (): string => `canary${randomBytes(18).toString('hex')}`;
const reference = (name: string): string => `\${${name}}`;

it('an archive holds no secret of the project, and none that was erased from its database', async (t) => {
  const env = {
    HTTP_TOKEN: canary(),
    DEMO_TOKEN: canary(),
    HOOK_SECRET: `whsec_${Buffer.from(canary()).toString('base64')}`,
    SHOP_KEY: canary(),
    UNUSED_TOKEN: canary(),
  };
  const files = {
    '.npmrc': `//packages.example/:_authToken=`,
    'server.pem': '-----BEGIN PRIVATE KEY-----\n',
    'plugins/id.key': '',
    'node_modules/shop/secret.js': 'export default ',
    '.svc/reports/last.txt': 'failed with ',
    'data/notes.txt': 'the key is ',
  } as const;
  const planted = new Map(Object.keys(files).map((file) => [file, canary()]));
  const erased = canary();
  const project = temporaryProject(t, { env });
  const webhook = { endpoints: [{ id: 'shop', secrets: [reference('HOOK_SECRET')] }] };
  const config = {
    host: { name: 'team', kind: 'workroom' },
    http: { port: 0, token: reference('HTTP_TOKEN'), demoToken: reference('DEMO_TOKEN') },
    plugins: { sandbox: {}, work: {}, echo: {}, webhook },
  };
  project.write('svc.config.yml', JSON.stringify(config));
  await stoppedWorkroom(t, { project });
  for (const [file, secret] of planted) project.write(file, `${files[file as keyof typeof files]}${secret}\n`);
  const name = await checkpointOf(project);
  withFile(partFile(project.path, name, 'data.sqlite'), (database) => {
    database.exec(`CREATE TABLE gone (text TEXT); INSERT INTO gone VALUES ('${erased}'); DROP TABLE gone`);
  });
  assert.ok(readFileSync(join(checkpointFolder(project.path, name), 'data.sqlite')).includes(erased));
  rehash(project.path, name);

  const { file } = await exportCheckpoint({ project: project.path, environment: env, name, to: project.path });

  const secrets = [...Object.values(env), ...planted.values(), erased];
  assert.equal(secrets.length, 12);
  const content = gunzipSync(readFileSync(file));
  const registry = new SecretRegistry();
  registry.add([...secrets, readFileSync(project.paths.linkKey).toString('base64url')]);
  assert.deepEqual(
    secrets.filter((secret) => content.includes(secret)),
    [],
  );
  assert.deepEqual(registry.find(content.toString('latin1')), []);
  assert.ok(content.includes('Home page') && content.includes('HOOK_SECRET'));
});
