// What an import refuses: nothing of it reaches the project, and nothing is written outside of the folder of the checkpoint.
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { SvcError } from '../../../shared/svc-error.ts';
import { importCheckpoint } from '../../../worker/recovery/archive/import.ts';
import {
  archiveOf,
  END,
  type Entry,
  honestArchive,
  manifestOf,
  paxEntry,
  tarEntry,
} from '../../support/recovery/tar-bytes.ts';
import { filesBelow } from '../../support/recovery/workroom-state.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

const CONFIG: Entry = { path: 'project/svc.config.yml', content: 'http: {}\n' };
const CODE: Entry = { path: 'project/plugins/a.js', content: 'export default 1;\n' };
const PARTS = [CONFIG, CODE];
const withManifest = (entries: readonly Entry[], parts: readonly Entry[] = PARTS): Buffer =>
  archiveOf([{ path: 'manifest.json', content: manifestOf(parts) }, ...entries]);
const named = (path: string): readonly Entry[] => [{ path, content: 'x' }];
const ZEROS = Buffer.alloc(24 * 1_048_576);

const HOSTILE: Readonly<Record<string, { readonly bytes: Buffer; readonly says: RegExp }>> = {
  'a symbolic link': {
    bytes: withManifest([CONFIG, { ...CODE, content: '', type: '2', link: '/etc/passwd' }]),
    says: /no regular file but SymbolicLink/,
  },
  'a hard link': {
    bytes: withManifest([CONFIG, { ...CODE, content: '', type: '1', link: '../../data.sqlite' }]),
    says: /no regular file but Link/,
  },
  'a file with the target of a link': {
    bytes: withManifest([CONFIG, { ...CODE, link: '/etc/passwd' }]),
    says: /is a link/,
  },
  'a character device': { bytes: withManifest([CONFIG, { ...CODE, type: '3' }]), says: /CharacterDevice/ },
  'a block device': { bytes: withManifest([CONFIG, { ...CODE, type: '4' }]), says: /BlockDevice/ },
  'a pipe': { bytes: withManifest([CONFIG, { ...CODE, type: '6' }]), says: /FIFO/ },
  'a folder': { bytes: withManifest([{ path: 'project/plugins/', type: '5' }, ...PARTS]), says: /Directory/ },
  'a type that nobody knows': { bytes: withManifest([CONFIG, { ...CODE, type: 'Q' }]), says: /Unsupported/ },
  'a long name of GNU': {
    bytes: withManifest([{ path: 'long', type: 'L', content: '../x' }, ...PARTS]),
    says: /NextFileHasLongPath/,
  },
  'a global extension': {
    bytes: withManifest([{ path: 'g', type: 'g', content: '11 path=../\n' }, ...PARTS]),
    says: /GlobalExtendedHeader/,
  },
  'a name with ..': { bytes: honestArchive(named('project/../../../escaped')), says: /leaves the folder/ },
  'a name that begins with ..': { bytes: honestArchive(named('../escaped')), says: /leaves the folder/ },
  'an absolute name': { bytes: honestArchive(named('/tmp/escaped')), says: /absolute/ },
  'a drive letter': { bytes: honestArchive(named('C:escaped')), says: /absolute/ },
  'a backslash': { bytes: honestArchive(named('project\\..\\escaped')), says: /no name may have/ },
  'an empty segment': { bytes: honestArchive(named('project//a')), says: /empty segment/ },
  'a name of another folder': { bytes: honestArchive(named('writer.lock')), says: /no file of a checkpoint/ },
  'a manifest as a part': { bytes: honestArchive(named('manifest.json')), says: /no file of a checkpoint/ },
  'a secret file': { bytes: honestArchive(named('project/.env')), says: /no file that a checkpoint may hold/ },
  'state of a project': {
    bytes: honestArchive(named('project/.SVC/link.key')),
    says: /no file that a checkpoint may hold/,
  },
  'a stored file with another name than its hash': {
    bytes: honestArchive(named(`files/${'0'.repeat(64)}`)),
    says: /not named by its hash/,
  },
  'a name twice in the manifest': { bytes: withManifest(PARTS, [CODE, CODE]), says: /named twice/ },
  'names that differ by case': {
    bytes: honestArchive([CODE, { ...CODE, path: 'project/plugins/A.js' }]),
    says: /one file on some file systems/,
  },
  'names that differ by the spelling of an accent': {
    bytes: honestArchive(['caf\u00e9', 'cafe\u0301'].map((name) => ({ path: `project/${name}`, content: name }))),
    says: /one file on some file systems/,
  },
  'a name below a file': {
    bytes: honestArchive([CODE, { path: `${CODE.path}/b`, content: 'x' }]),
    says: /lies below a file/,
  },
  'an entry twice': { bytes: withManifest([CONFIG, CODE, CODE]), says: /is there twice/ },
  'the manifest twice': {
    bytes: withManifest([{ path: 'manifest.json', content: '{}' }, ...PARTS]),
    says: /is there twice/,
  },
  'an entry that the manifest has not': {
    bytes: withManifest([...PARTS, { path: 'project/more', content: 'x' }]),
    says: /not in its manifest/,
  },
  'an entry under the name of an extension': {
    bytes: withManifest([CONFIG, paxEntry('path', '../escaped'), CODE]),
    says: /not in its manifest/,
  },
  'the target of a link in an extension': {
    bytes: withManifest([CONFIG, paxEntry('linkpath', '/etc/passwd'), CODE]),
    says: /extension/,
  },
  'another size in an extension': { bytes: withManifest([CONFIG, paxEntry('size', '5'), CODE]), says: /has 5 bytes/ },
  'a size that is no number': { bytes: withManifest([CONFIG, paxEntry('size', '1.5'), CODE]), says: /says no size/ },
  'an extension behind an extension': {
    bytes: withManifest([CONFIG, paxEntry('path', 'a'), paxEntry('path', 'b'), CODE]),
    says: /ExtendedHeader/,
  },
  'an extension without end': {
    bytes: withManifest([CONFIG, { path: 'x', type: 'x', content: Buffer.alloc(100_000, 65) }, CODE]),
    says: /name of an entry is too long/,
  },
  'more bytes than the manifest says': {
    bytes: withManifest([CONFIG, { ...CODE, content: `${CODE.content}//` }]),
    says: /its manifest says/,
  },
  'fewer bytes than the manifest says': {
    bytes: withManifest([CONFIG, { ...CODE, content: '1' }]),
    says: /its manifest says/,
  },
  'other bytes of the same number': {
    bytes: withManifest([CONFIG, { ...CODE, content: 'export default 2;\n' }]),
    says: /another hash/,
  },
  'a part that is missing': { bytes: withManifest([CONFIG]), says: /is missing/ },
  'a manifest that comes second': {
    bytes: archiveOf([CONFIG, { path: 'manifest.json', content: manifestOf(PARTS) }, CODE]),
    says: /begins with "project\/svc.config.yml"/,
  },
  'a manifest that is no JSON': { bytes: archiveOf([{ path: 'manifest.json', content: '{' }]), says: /is no JSON/ },
  'a manifest without parts': {
    bytes: archiveOf([{ path: 'manifest.json', content: manifestOf([], { parts: undefined }) }]),
    says: /parts/,
  },
  'more than it should unzip to': {
    bytes: honestArchive([{ path: 'project/zeros', content: ZEROS }]),
    says: /more than 100 times/,
  },
  'too many parts': {
    bytes: archiveOf([
      {
        path: 'manifest.json',
        content: manifestOf([], {
          parts: Array.from({ length: 100_000 }, (_, at) => ({
            path: `project/${at}`,
            bytes: 0,
            sha256: '0'.repeat(64),
          })),
        }),
      },
    ]),
    says: /at most 100000 entries/,
  },
  'no entry': { bytes: archiveOf([]), says: /is empty/ },
  'no end mark': {
    bytes: archiveOf([{ path: 'manifest.json', content: manifestOf(PARTS) }, ...PARTS], Buffer.alloc(0)),
    says: /cut short/,
  },
  'half an end mark': {
    bytes: archiveOf(
      [{ path: 'manifest.json', content: manifestOf(PARTS) }, ...PARTS],
      Buffer.concat([Buffer.alloc(512), tarEntry(CODE)]),
    ),
    says: /end mark is damaged/,
  },
  'an entry behind the end': {
    bytes: archiveOf(
      [{ path: 'manifest.json', content: manifestOf(PARTS) }, ...PARTS],
      Buffer.concat([END, tarEntry(CODE)]),
    ),
    says: /behind its end/,
  },
  'a wrong checksum of a header': { bytes: flipped(withManifest(PARTS), 10), says: /wrong checksum/ },
  'no gzip': { bytes: Buffer.from('PK\u0003\u0004 a zip file'), says: /no gzip file/ },
  'an empty file': { bytes: Buffer.alloc(0), says: /cut short|empty/ },
};

function flipped(archive: Buffer, at: number): Buffer {
  const bytes = gunzipSync(archive);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return gzipSync(bytes);
}

function take(project: TemporaryProject, bytes: Buffer, expect?: string) {
  const file = join(project.path, 'hostile.tar.gz');
  writeFileSync(file, bytes);
  return importCheckpoint({ project: project.path, environment: project.env, file, expect });
}

const refusal = async (import_: Promise<unknown>): Promise<SvcError> => {
  try {
    await import_;
  } catch (error) {
    assert.ok(error instanceof SvcError, String(error));
    return error;
  }
  assert.fail('it was taken');
};

/** The numbers are all that a refused import may leave. */
const leftIn = ({ path, paths }: TemporaryProject): readonly string[] =>
  filesBelow(path).filter(
    (name) => join(path, name) !== paths.recoveryNumbers && join(path, name) !== paths.recoveryLock,
  );

describe('an import of an archive', () => {
  it('takes an honest one, gives it a number of its own, and removes what a killed import left', async (t) => {
    const project = temporaryProject(t);
    project.write('.svc/checkpoints/c7.part/project/svc.config.yml', 'half');
    chmodSync(project.paths.stateDir, 0o700);
    assert.equal((await take(project, honestArchive(PARTS))).name, 'c1');
    assert.equal((await take(project, honestArchive(PARTS))).name, 'c2');
    assert.equal(readFileSync(join(project.paths.checkpointsDir, 'c2', CODE.path), 'utf8'), CODE.content);
    assert.deepEqual(readdirSync(project.paths.checkpointsDir).toSorted(), ['c1', 'c2']);
  });

  for (const [what, { bytes, says }] of Object.entries(HOSTILE))
    it(`refuses ${what}, and leaves nothing`, async (t) => {
      const project = temporaryProject(t);
      writeFileSync(join(project.path, 'hostile.tar.gz'), '');
      const before = leftIn(project);
      const { code, message, hint } = await refusal(take(project, bytes));
      assert.equal(code, 'archive_refused', message);
      assert.match(message, says);
      assert.ok(hint !== undefined);
      assert.deepEqual(leftIn(project), before);
    });

  it('refuses an archive of a newer format with the svc that knows it', async (t) => {
    const content = manifestOf(PARTS, { format: 'svc.checkpoint/2' });
    const { code, message } = await refusal(take(temporaryProject(t), archiveOf([{ path: 'manifest.json', content }])));
    assert.equal(code, 'schema_newer');
    assert.match(message, /svc\.checkpoint\/2/);
  });

  it('refuses another manifest than the one that was expected', async (t) => {
    const project = temporaryProject(t);
    const { sha256 } = await take(project, honestArchive(PARTS));
    assert.equal((await take(project, honestArchive(PARTS), sha256)).name, 'c2');
    const { code, message } = await refusal(take(project, honestArchive([CONFIG]), sha256));
    assert.equal(code, 'archive_refused');
    assert.match(message, /expected was/);
  });

  it('refuses an archive that is cut anywhere, and one with any byte of its content changed', async (t) => {
    const project = temporaryProject(t);
    const bytes = honestArchive(PARTS);
    const plain = gunzipSync(bytes);
    const content = plain.indexOf('export default');
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 9 }),
        fc.integer({ min: 0, max: (CODE.content?.length ?? 1) - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (cut, at, change) => {
          assert.equal((await refusal(take(project, bytes.subarray(0, cut)))).code, 'archive_refused');
          const changed = Buffer.from(plain);
          changed[content + at] = (changed[content + at] ?? 0) ^ change;
          assert.equal((await refusal(take(project, gzipSync(changed)))).code, 'archive_refused');
        },
      ),
      { numRuns: 20 },
    );
    assert.deepEqual(readdirSync(project.paths.checkpointsDir), []);
  });
});
