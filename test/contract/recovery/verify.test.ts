// A rehearsal finds whatever would keep a restore from serving: each damage of a part, and each part that is whole but wrong.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { readVerification, storedCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { openRehearsal } from '../../../worker/recovery/verify/rehearsal-folder.ts';
import { verifyCheckpoint } from '../../../worker/task.ts';
import {
  checkpointOf,
  filesBelow,
  job,
  partFile,
  rehash,
  sha256,
  stoppedWorkroom,
  workroomWithCheckpoint,
} from '../../support/recovery/workroom-state.ts';
import { ofRun } from '../../support/run-length.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { withFile } from '../../support/workroom/room.ts';

const withCheckpoint = workroomWithCheckpoint();

const verified = (project: TemporaryProject, more: { readonly quick?: boolean; readonly name?: string } = {}) =>
  verifyCheckpoint({ project: project.path, environment: project.env, name: 'c1', ...more });

interface Damage {
  /** Changes the checkpoint; hashes are made right again unless `raw` is set. */
  readonly change: (project: TemporaryProject) => Partial<Manifest> | void;
  readonly raw?: true;
  readonly says: RegExp;
  readonly level?: 'checked';
  /** The files are right: what is wrong lies beside them. */
  readonly isBeside?: boolean;
}

const inDatabase =
  (change: (database: Database) => unknown) =>
  (project: TemporaryProject): void => {
    withFile(partFile(project.path, 'c1', 'data.sqlite'), change);
  };
const write = (path: string, text: string) => (project: TemporaryProject) =>
  writeFileSync(partFile(project.path, 'c1', path), text);
const CONFIG = 'project/svc.config.yml';
const flip = (path: string) => (project: TemporaryProject) => {
  const file = partFile(project.path, 'c1', path);
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};
const unchained = (database: Database, change: string): void => {
  database.exec(`DROP TRIGGER workroom_events_unchanged; DROP TRIGGER workroom_events_kept; ${change}`);
};

const LATER = 'f'.repeat(64);

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a changed byte of the database': {
    change: flip('data.sqlite'),
    raw: true,
    level: 'checked',
    says: /^data\.sqlite: was changed/,
  },
  'a changed byte of the jobs': {
    change: flip('jobs.json'),
    raw: true,
    level: 'checked',
    says: /^jobs\.json: was changed/,
  },
  'a changed byte of the configuration': {
    change: flip(CONFIG),
    raw: true,
    level: 'checked',
    says: /^project\/svc\.config\.yml: was changed/,
  },
  'a changed stored file': {
    change: (project) => flip(filesPart(project))(project),
    raw: true,
    level: 'checked',
    says: /^files\/[0-9a-f]{64}: was changed/,
  },
  'a missing part': {
    change: ({ path }) => rmSync(partFile(path, 'c1', CONFIG)),
    raw: true,
    level: 'checked',
    says: /^project\/svc\.config\.yml: is missing/,
  },
  'a missing stored file': {
    change: (project) => rmSync(partFile(project.path, 'c1', filesPart(project))),
    raw: true,
    level: 'checked',
    says: /^files\/[0-9a-f]{64}: is missing/,
  },
  'a part that ends early': {
    change: ({ path }) => truncateSync(partFile(path, 'c1', 'data.sqlite'), 8_192),
    raw: true,
    level: 'checked',
    says: /^data\.sqlite: has 8192 bytes/,
  },
  'a link in place of a part': {
    change: ({ path, paths }) => {
      rmSync(partFile(path, 'c1', CONFIG));
      symlinkSync(paths.config, partFile(path, 'c1', CONFIG));
    },
    raw: true,
    level: 'checked',
    says: /^project\/svc\.config\.yml: is no regular file/,
  },
  'a file that nobody named': {
    change: write('data.sqlite-wal', 'a log'),
    raw: true,
    level: 'checked',
    says: /^data\.sqlite-wal: is not in the manifest\. Remove/,
  },
  'no manifest': {
    change: ({ path }) => rmSync(partFile(path, 'c1', 'manifest.json')),
    raw: true,
    level: 'checked',
    says: /^manifest\.json: .*cannot be read/,
  },
  'a manifest of a newer format': {
    change: ({ path }) => {
      const file = partFile(path, 'c1', 'manifest.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace('svc.checkpoint/1', 'svc.checkpoint/2'));
    },
    raw: true,
    level: 'checked',
    says: /svc\.checkpoint\/2.*Use the svc that made this checkpoint/,
  },
  'a name in the manifest that leaves the folder': {
    change: ({ path }) => ({
      parts: [
        { path: 'project/../../x', bytes: 0, sha256: '0'.repeat(64) },
        ...readManifest(checkpointFolder(path, 'c1')).parts,
      ],
    }),
    level: 'checked',
    says: /^manifest\.json: .*leaves the folder/,
  },
  'a database that is none': {
    change: write('data.sqlite', 'words of somebody'.repeat(1_000)),
    says: /^data\.sqlite: .*not a database/,
  },
  'a page of zeros in the database': {
    change: ({ path }) => {
      const file = partFile(path, 'c1', 'data.sqlite');
      const bytes = readFileSync(file);
      bytes.fill(0, 16_384, 24_576);
      writeFileSync(file, bytes);
    },
    says: /^data\.sqlite: .*damaged/,
  },
  'rows that are gone': {
    change: inDatabase((database) => database.exec('DELETE FROM event_log WHERE seq = 3')),
    says: /event_log has \d+ rows, the manifest says \d+/,
  },
  'a table that is gone': {
    change: inDatabase((database) => database.exec('DROP TABLE dialogs')),
    says: /dialogs has no rows/,
  },
  'a table too many': {
    change: inDatabase((database) => database.exec('CREATE TABLE more (a)')),
    says: /more has 0 rows, the manifest says none/,
  },
  'another project': {
    change: inDatabase((database) => database.exec("UPDATE meta SET value = 'other' WHERE key = 'project_id'")),
    says: /project is "other"/,
  },
  'another generation': {
    change: inDatabase((database) => database.exec("UPDATE counters SET value = 99 WHERE name = 'generation'")),
    says: /generation is 99/,
  },
  'a reference to rows that are not there': {
    change: inDatabase((database) => {
      database.pragma('foreign_keys = OFF');
      database.exec(
        'CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a); INSERT INTO b VALUES (7)',
      );
    }),
    says: /b names rows of a that are not there/,
  },
  'an event of the journal that was changed': {
    change: inDatabase((database) => unchained(database, "UPDATE workroom_events SET actor = 'mallory' WHERE seq = 2")),
    says: /journal of the Workroom: changed \(event 2/,
  },
  'a chain that was cut': {
    change: inDatabase((database) =>
      unchained(
        database,
        "DELETE FROM workroom_events WHERE seq = 4; INSERT INTO workroom_events SELECT 4, id || 'x', stream || 'x', version, kind, at, actor, cause, data, texts, digest, hash FROM workroom_events WHERE seq = 3",
      ),
    ),
    says: /journal of the Workroom: changed \(event 4/,
  },
  'a catalog that is not the fold of its journal': {
    change: inDatabase((database) =>
      database.exec("UPDATE workroom_catalog SET state = 'done' WHERE stream = 'item/web-1'"),
    ),
    says: /journal of the Workroom: catalog_differs \(item\/web-1\)/,
  },
  'a migration that this svc does not know': {
    isBeside: true,
    change: (project) => {
      inDatabase((database) => {
        database.exec(
          `INSERT INTO migrations (id, name, breaking, sha256, applied_at) VALUES (99, '0099-later', 1, '${LATER}', 1)`,
        );
        database.pragma('user_version = 99');
      })(project);
      const { schema, database } = readManifest(checkpointFolder(project.path, 'c1'));
      return {
        schema: { migrations: [...schema.migrations, { id: 99, sha256: LATER, breaking: true }] },
        database: { ...database, rows: { ...database.rows, migrations: (database.rows['migrations'] ?? 0) + 1 } },
      };
    },
    says: /0099-later, which this svc does not know\. Start it with the newer svc/,
  },
  'a stored row that cannot be read': {
    change: inDatabase((database) => database.exec("UPDATE due SET kind = 'job', data = 'no JSON'")),
    says: /rows of due cannot be read/,
  },
  'a jobs file that no svc takes': {
    isBeside: true,
    change: write('jobs.json', '{"version": 1, "revision": 3, "jobs": [{"id": "A b"}]}'),
    says: /^jobs\.json: data\/schedule-jobs\.json:1:\d+ .*schedule-jobs\.json of the project/,
  },
  'other jobs than the manifest counts': {
    change: write('jobs.json', '{"version": 1, "revision": 9, "jobs": []}'),
    says: /has 0 jobs of revision 9, the manifest says 1 of 3/,
  },
  'a job whose account its configuration has not': {
    isBeside: true,
    change: write('jobs.json', JSON.stringify({ version: 1, revision: 3, jobs: [job('evening', 'telegram~shop')] })),
    says: /^jobs\.json: evening has a target that is not in the checkpoint \(endpoint_unknown\)/,
  },
  'a job for a board that is not there': {
    isBeside: true,
    change: write(
      'jobs.json',
      JSON.stringify({
        version: 1,
        revision: 3,
        jobs: [{ id: 'weekly', cron: '0 9 * * 1', do: { item: { board: 'shop', title: 'Look at the orders' } } }],
      }),
    ),
    says: /^jobs\.json: weekly has a target that is not in the checkpoint \(board_unknown\)/,
  },
  'a configuration that does not load': {
    isBeside: true,
    change: write(CONFIG, 'http: {}\nplugins: { sandbox: {} }\nno_such_key: 1\n'),
    says: /^project\/svc\.config\.yml: svc\.config\.yml:3:1/,
  },
  'a configuration with a plugin that is not there': {
    isBeside: true,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    change: write(
      CONFIG,
      'http: { port: 0, token: "${HTTP_TOKEN}" }\nplugins: { sandbox: {}, work: {}, shop: { use: ./plugins/shop.js } }\n',
    ),
    says: /^project: \/plugins\/shop\/use: .*names no plugin/,
  },
};

const filesPart = ({ path }: TemporaryProject): string =>
  readManifest(checkpointFolder(path, 'c1')).parts.find((part) => part.path.startsWith('files/'))?.path ?? '';

describe('a rehearsal of a checkpoint', () => {
  it('finds a good one good, keeps the result, and leaves nothing else', async (t) => {
    const project = await withCheckpoint(t);
    const before = filesBelow(project.path);
    const { name, ...result } = await verified(project);
    assert.deepEqual([name, result.ok, result.level, result.faults], ['c1', true, 'rehearsed', []]);
    const { manifest, ...kept } = readVerification(project.path, 'c1') ?? assert.fail();
    assert.deepEqual({ manifest, ...kept }, result);
    assert.equal(manifest, sha256(readFileSync(partFile(project.path, 'c1', 'manifest.json'))));
    const left = filesBelow(project.path).filter((path) => !before.includes(path));
    assert.deepEqual(left.toSorted(), ['.svc/checkpoints/c1.verified.json', '.svc/rehearsal.lock']);
  });

  for (const [what, { change, raw, says, isBeside = false, level = 'rehearsed' }] of Object.entries(DAMAGES))
    it(`finds ${what}`, async (t) => {
      const project = await withCheckpoint(t);
      const told = change(project) ?? {};
      if (raw === undefined) rehash(project.path, 'c1', told);
      const result = await verified(project);
      assert.equal(result.ok, false);
      assert.equal(result.level, level);
      assert.ok(
        result.faults.some((fault) => says.test(fault)),
        result.faults.join('\n'),
      );
      assert.match(result.instead ?? '', /No other checkpoint was verified/);
      assert.equal(readVerification(project.path, 'c1')?.ok, false);
      assert.equal(storedCheckpoint(project.path, 'c1')?.level, isBeside ? 'failed' : 'damaged');
      assert.equal(existsSync(project.paths.rehearsalDir), false);
    });

  it('names the newest good one instead', async (t) => {
    const project = await withCheckpoint(t);
    for (const name of ['c2', 'c3', 'c4']) assert.equal(await checkpointOf(project), name);
    await verified(project, { name: 'c2' });
    await verified(project, { name: 'c3', quick: true });
    flip('jobs.json')(project);
    assert.equal((await verified(project)).instead, 'The newest good one is c2 (rehearsed).');
  });

  it('finds a change of any byte of any part', async (t) => {
    const project = await withCheckpoint(t);
    const { parts } = readManifest(checkpointFolder(project.path, 'c1'));
    const places = parts.flatMap(({ path, bytes }) => (bytes === 0 ? [] : [{ path, bytes }]));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        async ({ path, bytes }, at, change) => {
          const file = partFile(project.path, 'c1', path);
          const content = readFileSync(file);
          const changed = Buffer.from(content);
          const index = Math.floor(at * bytes);
          changed[index] = (changed[index] ?? 0) ^ change;
          writeFileSync(file, changed);
          const { ok, faults } = await verified(project, { quick: true });
          writeFileSync(file, content);
          assert.equal(ok, false);
          assert.ok(faults.length === 1 && faults[0]?.startsWith(`${path}: `));
        },
      ),
      { numRuns: ofRun({ short: 20, long: 60 }) },
    );
    assert.equal((await verified(project, { quick: true })).ok, true);
  });

  it('is one at a time, and removes what a killed one left', async (t) => {
    const project = await withCheckpoint(t);
    const other = openRehearsal(project.path);
    await assert.rejects(verified(project), (error) => error instanceof SvcError && error.code === 'conflict');
    other.remove();
    mkdirSync(join(project.paths.rehearsalDir, 'project', 'plugins'), { recursive: true });
    appendFileSync(join(project.paths.rehearsalDir, 'project', 'svc.config.yml'), 'left: by a kill');
    assert.equal((await verified(project)).ok, true);
    assert.equal(existsSync(project.paths.rehearsalDir), false);
  });

  it('assembles the plugins of the checkpoint, with the secrets of the project, and not those of today', async (t) => {
    const source = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'shop', config: { key: t.secret() }, setup(p) { if (p.config.key.reveal() !== 'the key of the shop') throw new Error('the shop is closed'); } });
`;
    const project = temporaryProject(t, { env: { SHOP_KEY: 'the key of the shop' }, plugins: { 'shop.js': source } });
    const plugins = { sandbox: {}, work: {}, shop: { use: './plugins/shop.js', key: `\${SHOP_KEY}` } };
    project.write(
      'svc.config.yml',
      JSON.stringify({ host: { name: 'team', kind: 'workroom' }, http: { port: 0, token: `\${HTTP_TOKEN}` }, plugins }),
    );
    await stoppedWorkroom(t, { project });
    await checkpointOf(project);
    project.write('plugins/shop.js', 'this is no code');
    const { HTTP_TOKEN: _, SHOP_KEY: __, ...environment } = project.env;
    assert.deepEqual((await verifyCheckpoint({ project: project.path, environment, name: 'c1' })).faults, []);
    project.write('.env', '');
    const missing = await verifyCheckpoint({
      project: project.path,
      environment: { ...environment, SHOP_KEY: 'another' },
      name: 'c1',
    });
    assert.match(missing.faults.join('\n'), /^project: root\/shop: .*the shop is closed/m);
  });

  it('tells of a checkpoint that is not there', async (t) => {
    const project = temporaryProject(t);
    await assert.rejects(verified(project), (error) => error instanceof SvcError && error.code === 'not_found');
    await assert.rejects(
      verified(project, { name: '../x' }),
      (error) => error instanceof SvcError && error.code === 'usage',
    );
  });
});
