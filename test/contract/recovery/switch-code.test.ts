// The exchange of code on real files: what belongs to a version moves, and nothing else.
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decideSwitch, finishSwitch } from '../../../shared/recovery/switch.ts';
import { codeRenames, refuseUnmovable, switchCode } from '../../../worker/recovery/release/switch-code.ts';
import { type Cleanup, type TemporaryProjectOptions, temporaryProject } from '../../support/temporary-project.ts';

function versions(t: Cleanup, options: TemporaryProjectOptions = {}) {
  const project = temporaryProject(t, options);
  const { path, paths } = project;
  const folder = join(paths.releasesDir, 'r1');
  const [aside, comes] = [join(folder, 'previous'), join(folder, 'next')];
  mkdirSync(paths.stateDir, { mode: 0o700 });
  mkdirSync(comes, { recursive: true });
  for (const name of ['package.json', 'svc.config.yml'])
    writeFileSync(join(comes, name), readFileSync(join(path, name)));
  writeFileSync(join(path, 'code.js'), 'old');
  writeFileSync(join(comes, 'code.js'), 'new');
  const of = { project: path, environment: {}, name: 'r1', aside, comes, staying: [] as string[] };
  return { path, of, folder };
}

describe('an exchange of code', () => {
  it('moves links as they are, wherever they point, and leaves state, secrets and what stays', (t) => {
    const { path, of } = versions(t);
    symlinkSync('data/public', join(path, 'public'));
    symlinkSync('../shared', join(of.comes, 'shared'));
    writeFileSync(join(path, 'notes.txt'), 'mine');

    switchCode({ ...of, staying: ['notes.txt'] });

    assert.equal(readFileSync(join(path, 'code.js'), 'utf8'), 'new');
    assert.equal(lstatSync(join(path, 'shared')).isSymbolicLink(), true);
    assert.equal(lstatSync(join(of.aside, 'public')).isSymbolicLink(), true);
    assert.equal(readFileSync(join(path, 'notes.txt'), 'utf8'), 'mine');
    assert.deepEqual(readdirSync(of.aside).sort(), [
      'code.js',
      'package-lock.json',
      'package.json',
      'public',
      'svc.config.yml',
    ]);
    assert.equal(existsSync(join(path, '.env')), true);
  });

  it('leaves a database beside .svc with its log and its marks', (t) => {
    const config = { database: { dialect: 'sqlite', filename: './bot.sqlite' } };
    const { path, of } = versions(t, { config });
    const names = ['bot.sqlite', 'bot.sqlite-wal', 'bot.sqlite-shm', 'bot.sqlite.known'];
    for (const name of names) writeFileSync(join(path, name), 'x');
    writeFileSync(join(path, 'bot.sqlite.js'), 'code');

    switchCode(of);

    assert.deepEqual(
      names.filter((name) => !existsSync(join(path, name))),
      [],
    );
    assert.equal(existsSync(join(of.aside, 'bot.sqlite.js')), true);
  });

  it('leaves what stays in a folder of code at its path, wherever it is cut', (t) => {
    const staying = ['src/notes.txt', 'src/uploads', 'old/state.json'];
    const renames = 3 + 6 + 5;
    for (let cut = 0; cut <= renames; cut += 1) {
      const { path, of } = versions(t);
      for (const folder of ['src/uploads', 'old']) mkdirSync(join(path, folder), { recursive: true });
      for (const name of ['src/main.js', 'src/notes.txt', 'src/uploads/a.png', 'old/state.json'])
        writeFileSync(join(path, name), 'old');
      mkdirSync(join(of.comes, 'src'));
      writeFileSync(join(of.comes, 'src/main.js'), 'new');
      const plan = codeRenames({ ...of, staying });
      decideSwitch(path, { purpose: 'release', names: {}, ...plan });
      for (const { from, to } of plan.renames.slice(0, cut)) renameSync(join(path, from), join(path, to));

      finishSwitch(path);

      assert.equal(plan.renames.length, renames);
      assert.deepEqual(
        ['src/main.js', 'src/notes.txt', 'src/uploads/a.png', 'old/state.json'].map((name) =>
          readFileSync(join(path, name), 'utf8'),
        ),
        ['new', 'old', 'old', 'old'],
      );
      assert.equal(readFileSync(join(of.aside, 'src/main.js'), 'utf8'), 'old');
      assert.equal(existsSync(of.comes), false);
    }
  });

  it('is refused before anything is touched: no project comes, or the database lies among the code', (t) => {
    const empty = versions(t);
    const inside = versions(t, { config: { database: { dialect: 'sqlite', filename: './src/bot.sqlite' } } });

    assert.throws(() => switchCode({ ...empty.of, comes: join(empty.folder, 'nothing') }), { code: 'refused' });
    assert.throws(() => refuseUnmovable(inside.of), { code: 'refused', message: /the database lies in src/ });
    assert.equal(existsSync(empty.of.aside), false);
    assert.equal(readFileSync(join(empty.path, 'code.js'), 'utf8'), 'old');
  });
});
