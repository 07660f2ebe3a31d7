import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decideSwitch,
  finishSwitch,
  type Rename,
  readSwitch,
  renamesLeft,
  type Switch,
} from '../../../shared/recovery/switch.ts';
import { PowerCut } from '../../support/disk/sim-files.ts';
import { TreeFiles } from '../../support/disk/tree-files.ts';

const PROJECT = '/p';

/** `old`: names of the state that is replaced; `next`: names that come. Some of `old` have no successor, as `data.sqlite-wal` has none. */
function switchOf(old: readonly string[], next: readonly string[]): Switch {
  const renames: Rename[] = [
    ...old.map((name) => ({ from: `.svc/${name}`, to: `.svc/replaced/s1/${name}` })),
    ...next.map((name) => ({ from: `.svc/restoring.part/${name}`, to: `.svc/${name}` })),
  ];
  return {
    purpose: 'restore',
    names: { checkpoint: 'c1', replaced: 's1' },
    renames,
    leftovers: ['.svc/restoring.part'],
  };
}

function seeded(old: readonly string[], next: readonly string[], options: { readonly lyingFolders?: boolean } = {}) {
  const files = new TreeFiles(options);
  for (const name of old) files.seed(`/p/.svc/${name}`, `old ${name}`);
  for (const name of next) files.seed(`/p/.svc/restoring.part/${name}`, `new ${name}`);
  return files;
}

const before = (old: readonly string[], next: readonly string[]): Record<string, string> => ({
  ...Object.fromEntries(old.map((name) => [`/p/.svc/${name}`, `old ${name}`])),
  ...Object.fromEntries(next.map((name) => [`/p/.svc/restoring.part/${name}`, `new ${name}`])),
});
const after = (old: readonly string[], next: readonly string[]): Record<string, string> => ({
  ...Object.fromEntries(old.map((name) => [`/p/.svc/replaced/s1/${name}`, `old ${name}`])),
  ...Object.fromEntries(next.map((name) => [`/p/.svc/${name}`, `new ${name}`])),
});

function run(files: TreeFiles, plan: Switch): 'done' | 'cut' {
  try {
    decideSwitch(PROJECT, plan, files);
    finishSwitch(PROJECT, { files });
    return 'done';
  } catch (error) {
    if (error instanceof PowerCut) return 'cut';
    throw error;
  }
}

/** Every state that an end after call `at` may leave. */
function statesAfter(at: number, kind: 'kill' | 'power cut', old: readonly string[], next: readonly string[]) {
  const files = seeded(old, next);
  files.crashAt = at;
  const end = run(files, switchOf(old, next));
  return { end, states: kind === 'kill' ? [files.asKilled()] : files.afterPowerCut() };
}

/** What a second attempt leaves that ends after call `at`. */
function cutAgain(first: TreeFiles, at: number, kind: 'kill' | 'power cut'): readonly TreeFiles[] {
  const files = first.asKilled();
  files.crashAt = at;
  try {
    finishSwitch(PROJECT, { files });
  } catch (error) {
    if (!(error instanceof PowerCut)) throw error;
  }
  return kind === 'kill' ? [files.asKilled()] : files.afterPowerCut();
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

const names = fc.uniqueArray(
  fc.constantFrom('data.sqlite', 'data.sqlite-wal', 'data.sqlite.known', 'jobs.json', 'journal'),
  {
    maxLength: 5,
  },
);

for (const kind of ['kill', 'power cut'] as const)
  describe(`a switch, cut by a ${kind} at any call`, () => {
    it('leaves the old state without a switch, or ends as the new state when it is carried out again', () => {
      fc.assert(
        fc.property(names, names, (old, next) => {
          for (let at = 0, end = 'cut'; end === 'cut'; at += 1) {
            const reached = statesAfter(at, kind, old, next);
            end = reached.end;
            for (const files of reached.states) {
              const isDecided = files.exists('/p/.svc/switch.json');
              const isOver = end === 'done' && !isDecided;
              if (isDecided) assert.equal(finishSwitch(PROJECT, { files })?.purpose, 'restore');
              const seen = files.contents();
              const isNew = isDecided || isOver || JSON.stringify(seen) === JSON.stringify(sorted(after(old, next)));
              assert.deepEqual(seen, sorted(isNew ? after(old, next) : before(old, next)), `after call ${at}`);
            }
          }
        }),
        { numRuns: 40 },
      );
    });

    it('ends as the new state although the second attempt is cut too', () => {
      const old = ['data.sqlite', 'data.sqlite-wal', 'jobs.json'];
      const next = ['data.sqlite', 'jobs.json'];
      const begun = upTo(40)
        .flatMap((at) => statesAfter(at, kind, old, next).states)
        .filter((files) => files.exists('/p/.svc/switch.json'));
      for (const left of begun.flatMap((first) => upTo(30).flatMap((at) => cutAgain(first, at, kind)))) {
        finishSwitch(PROJECT, { files: left });
        assert.deepEqual(left.contents(), sorted(after(old, next)));
      }
    });
  });

describe('the power cuts of this test', () => {
  it('find a switch whose folders are not synced', () => {
    const [old, next] = [['data.sqlite'], ['data.sqlite']];
    const files = seeded(old, next, { lyingFolders: true });
    run(files, switchOf(old, next));
    const ends = files.afterPowerCut().map((left) => {
      finishSwitch(PROJECT, { files: left });
      return JSON.stringify(left.contents());
    });
    const good = [before(old, next), after(old, next)].map((state) => JSON.stringify(sorted(state)));
    assert.ok(ends.some((end) => !good.includes(end)));
  });
});

it('a switch that a sandbox does not let through names the command that finishes it', () => {
  const files = seeded(['data.sqlite'], ['data.sqlite']);
  decideSwitch(PROJECT, switchOf(['data.sqlite'], ['data.sqlite']), files);
  files.rename = () => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS', syscall: 'rename' });
  };

  assert.throws(() => finishSwitch(PROJECT, { files }), {
    code: 'switch_pending',
    hint: /svc checkpoint restore --finish.*outside of the sandbox/,
  });
  assert.ok(files.exists('/p/.svc/switch.json'));
});

describe('renamesLeft', () => {
  const { renames } = switchOf(['a', 'b'], ['a', 'c']);
  const at = (...paths: string[]) => renamesLeft(renames, (path) => paths.includes(path)).length;

  it('tells from the names alone how far a switch came', () => {
    assert.equal(at('.svc/a', '.svc/b', '.svc/restoring.part/a', '.svc/restoring.part/c'), 4);
    assert.equal(at('.svc/replaced/s1/a', '.svc/b', '.svc/restoring.part/a', '.svc/restoring.part/c'), 3);
    assert.equal(at('.svc/replaced/s1/a', '.svc/replaced/s1/b', '.svc/restoring.part/a', '.svc/restoring.part/c'), 2);
    assert.equal(at('.svc/replaced/s1/a', '.svc/replaced/s1/b', '.svc/a', '.svc/restoring.part/c'), 1);
    assert.equal(at('.svc/replaced/s1/a', '.svc/replaced/s1/b', '.svc/a', '.svc/c'), 0);
  });
});

describe('a switch on the disk', () => {
  const made = (t: { after(run: () => void): void }): string => {
    const project = mkdtempSync(join(tmpdir(), 'svc-switch-'));
    t.after(() => rmSync(project, { recursive: true, force: true }));
    mkdirSync(join(project, '.svc/replaced/s1'), { recursive: true });
    mkdirSync(join(project, '.svc/restoring.part/journal'), { recursive: true });
    writeFileSync(join(project, '.svc/data.sqlite'), 'old');
    writeFileSync(join(project, '.svc/restoring.part/data.sqlite'), 'new');
    writeFileSync(join(project, '.svc/restoring.part/journal/1.wjl'), 'line');
    return project;
  };

  it('moves files and folders, and leaves nothing of its own', (t) => {
    const project = made(t);
    decideSwitch(project, switchOf(['data.sqlite'], ['data.sqlite', 'journal']));
    assert.equal(readSwitch(project)?.names['replaced'], 's1');

    finishSwitch(project);

    assert.deepEqual(readdirSync(join(project, '.svc')).toSorted(), ['data.sqlite', 'journal', 'replaced']);
    assert.equal(readFileSync(join(project, '.svc/data.sqlite'), 'utf8'), 'new');
    assert.equal(readFileSync(join(project, '.svc/replaced/s1/data.sqlite'), 'utf8'), 'old');
    assert.equal(finishSwitch(project), undefined);
  });

  it('is not decided twice, nor with a source that is missing', (t) => {
    const project = made(t);
    assert.throws(() => decideSwitch(project, switchOf(['data.sqlite-wal'], [])), /does not exist/);
    assert.equal(existsSync(join(project, '.svc/switch.json')), false);
    decideSwitch(project, switchOf(['data.sqlite'], ['data.sqlite']));
    assert.throws(() => decideSwitch(project, switchOf([], ['journal'])), { code: 'switch_pending' });
  });

  it('stays pending where a part of it is lost, and says which', (t) => {
    const project = made(t);
    decideSwitch(project, switchOf(['data.sqlite'], ['data.sqlite']));
    rmSync(join(project, '.svc/restoring.part/data.sqlite'));

    assert.throws(() => finishSwitch(project), {
      code: 'switch_pending',
      message: /\.svc\/restoring\.part\/data\.sqlite does not exist/,
    });
    assert.ok(existsSync(join(project, '.svc/switch.json')));
    assert.equal(readFileSync(join(project, '.svc/data.sqlite'), 'utf8'), 'old');
  });

  it('does not move the new state aside where somebody has removed the replaced one', (t) => {
    const project = made(t);
    decideSwitch(project, switchOf(['data.sqlite'], ['data.sqlite']));
    const text = readFileSync(join(project, '.svc/switch.json'));
    finishSwitch(project);
    writeFileSync(join(project, '.svc/switch.json'), text);
    rmSync(join(project, '.svc/replaced/s1/data.sqlite'));

    assert.throws(() => finishSwitch(project), { code: 'switch_pending' });
    assert.equal(readFileSync(join(project, '.svc/data.sqlite'), 'utf8'), 'new');
  });

  it('of a newer svc is refused, and so is one that cannot be read', (t) => {
    const project = made(t);
    writeFileSync(join(project, '.svc/switch.json'), '{"format":"svc.switch/2"}');
    assert.throws(() => readSwitch(project), { code: 'schema_newer' });
    writeFileSync(join(project, '.svc/switch.json'), '{"format":"svc.switch/1","renames":[{}]}');
    assert.throws(() => readSwitch(project), { code: 'switch_pending' });
  });
});

const sorted = (state: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(state).toSorted(([one], [other]) => (one < other ? -1 : 1)));
