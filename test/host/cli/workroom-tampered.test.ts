// `svc workroom verify` over copies of a stopped project in which something was changed: its exit code, and what its first line says.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { projectPaths } from '../../../shared/files/paths.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { commands } from '../../../supervisor/cli/commands/workroom/prove.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { person, type RoomOptions, teamRoom, withFile } from '../../support/workroom/room.ts';

interface Made {
  readonly project: TemporaryProject;
  /** Streams of the events, the first one first. */
  readonly streams: readonly string[];
}
/** What the first line of the table says. */
type First = readonly [seq: string, stream: string, fault: string];

/** A team's day in the project: 15 events, two items. */
async function work(project: TemporaryProject, options: RoomOptions): Promise<Made> {
  const ends: (() => void | Promise<void>)[] = [];
  const room = await teamRoom({ after: (run) => void ends.push(run) }, { ...options, path: project.path });
  const ann = person('ann');
  for (const command of [
    { kind: 'new', board: 'web', title: 'Home page', text: 'The new one' },
    { kind: 'new', board: 'web', title: 'Release' },
    { kind: 'block', item: 'web-2', blocker: 'dependency', needs: 'web-1', reason: 'first the page' },
    { kind: 'comment', item: 'web-1', text: 'Half of it' },
    { kind: 'edit', item: 'web-2', title: 'The release' },
    { kind: 'assign', item: 'web-1', member: 'bob' },
  ] as const)
    assert.equal((await room.do(ann, command)).kind, 'accepted');
  const streams = (await room.journal.slice({ after: 0, limit: 100 })).map(({ stream }) => stream);
  await room.close();
  for (const end of ends) await end();
  return { project, streams };
}

async function verify(path: string): Promise<{ readonly code: number | undefined; readonly out: readonly string[] }> {
  const captured = capturedContext('http://127.0.0.1:1');
  const command = commands.find(({ verb }) => verb === 'verify');
  const code = await command?.run({ ...captured, cwd: path, project: () => path }, [], {});
  return { code, out: captured.out };
}

const database = (path: string, change: (database: Database) => void): void =>
  withFile(projectPaths(path).database, (one) => {
    one.exec('DROP TRIGGER workroom_events_kept; DROP TRIGGER workroom_events_unchanged;');
    change(one);
  });

/** Another character at a place of a text, as one bit of a byte makes it. */
const flipped = (text: string, at: number): string =>
  text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
const places = (length: number): readonly number[] => [...new Set([0, Math.floor(length / 2), length - 1])];

for (const store of ['database', 'file'] as const)
  describe(`svc workroom verify of a changed copy, store ${store}`, () => {
    const ends: (() => void | Promise<void>)[] = [];
    const cleanup = { after: (run: () => void | Promise<void>) => void ends.push(run) };
    let made: Made;
    before(async () => {
      const config = { host: { name: 'team', kind: 'workroom' }, workroom: { store } };
      made = await work(temporaryProject(cleanup, { config }), { store });
    });
    after(async () => {
      for (const end of ends) await end();
    });

    /** Runs the command over a copy of the project after the change. */
    async function found(change: (path: string) => void): Promise<First | undefined> {
      const { path } = temporaryProject(cleanup);
      cpSync(made.project.path, path, { recursive: true });
      change(path);
      const filesBefore = readdirSync(join(path, '.svc'), { recursive: true });
      const { code, out } = await verify(path);
      assert.deepEqual(readdirSync(join(path, '.svc'), { recursive: true }), filesBefore);
      rmSync(path, { recursive: true });
      if (code === 0) return undefined;
      assert.equal(code, 1);
      assert.equal(out[0], 'seq | stream | fault');
      return out[1]?.split(' | ') as unknown as First;
    }
    const inDatabase = (change: (one: Database) => void): Promise<First | undefined> =>
      found((path) => database(path, change));

    it('is 0 for a copy as it is', async () => {
      assert.equal(await found(() => {}), undefined);
    });

    (store === 'database' ? inTheDatabase : inFiles)({ found, inDatabase, made: () => made });
  });

interface Copies {
  readonly found: (change: (path: string) => void) => Promise<First | undefined>;
  readonly inDatabase: (change: (one: Database) => void) => Promise<First | undefined>;
  readonly made: () => Made;
}

function inTheDatabase({ inDatabase, made }: Copies): void {
  const streamOf = (seq: number): string => made().streams[seq - 1] ?? '';
  const last = (): number => made().streams.length;
  const middle = 10;

  it('names each event in which a byte is another', async () => {
    let turn = 0;
    for (const seq of [1, middle, last()])
      for (const column of ['id', 'stream', 'kind', 'actor', 'data', 'digest', 'hash', 'texts']) {
        const valueOf = (one: Database): string | null =>
          one.prepare(`SELECT ${column} FROM workroom_events WHERE seq = ?`).pluck().get(seq) as string | null;
        const value = withFile(made().project.paths.database, valueOf);
        if (value === null) continue;
        // The first, a middle and the last character in turn.
        const at = places(value.length)[turn++ % 3] ?? 0;
        const other = flipped(value, at);
        const told = await inDatabase((one) =>
          one.prepare(`UPDATE workroom_events SET ${column} = ? WHERE seq = ?`).run(other, seq),
        );
        const stream = column === 'stream' ? other : streamOf(seq);
        const word = column === 'texts' ? 'text_changed' : 'changed';
        assert.deepEqual(told, [String(seq), stream, word], `${column} of ${seq}, character ${at}`);
      }
  });

  it('names each event in which a number is another', async () => {
    for (const seq of [1, middle, last()])
      for (const column of ['version', 'at']) {
        const told = await inDatabase((one) =>
          one.exec(`UPDATE workroom_events SET ${column} = ${column} + 100 WHERE seq = ${seq}`),
        );
        assert.deepEqual(told, [String(seq), streamOf(seq), 'changed'], `${column} of ${seq}`);
      }
  });

  it('names where an event is gone, two have changed places, or the end is cut', async () => {
    const gone = (where: string) => inDatabase((one) => one.exec(`DELETE FROM workroom_events WHERE ${where}`));
    const swapped = (seq: number) =>
      inDatabase((one) =>
        one.exec(`UPDATE workroom_events SET seq = -1 WHERE seq = ${seq};
          UPDATE workroom_events SET seq = ${seq} WHERE seq = ${seq + 1};
          UPDATE workroom_events SET seq = ${seq + 1} WHERE seq = -1`),
      );
    for (const seq of [1, middle]) assert.deepEqual(await gone(`seq = ${seq}`), [String(seq), '', 'missing']);
    for (const kept of [0, middle, last() - 1])
      assert.deepEqual(await gone(`seq > ${kept}`), [String(kept + 1), '', 'truncated']);
    for (const seq of [1, middle, last() - 1])
      assert.deepEqual(await swapped(seq), [String(seq), streamOf(seq + 1), 'reordered']);
  });

  it('names words that are other ones, or gone', async () => {
    const words = (text: string) =>
      inDatabase((one) => one.exec(`UPDATE workroom_events SET texts = ${text} WHERE texts LIKE '%Half of it%'`));
    const seq = '13'; // the comment
    assert.deepEqual(await words("replace(texts, 'Half', 'Hall')"), [seq, 'item/web-1', 'text_changed']);
    assert.deepEqual(await words('NULL'), [seq, 'item/web-1', 'text_missing']);
  });

  it('names each stream of which the catalog shows something else', async () => {
    const differs = (stream: string): First => ['', stream, 'catalog_differs'];
    for (const stream of ['team', 'board/web', 'item/web-1']) {
      const valueOf = (one: Database): string =>
        one.prepare('SELECT data FROM workroom_catalog WHERE stream = ?').pluck().get(stream) as string;
      const value = withFile(made().project.paths.database, valueOf);
      for (const at of places(value.length)) {
        const told = await inDatabase((one) =>
          one.prepare('UPDATE workroom_catalog SET data = ? WHERE stream = ?').run(flipped(value, at), stream),
        );
        assert.deepEqual(told, differs(stream), `${stream}, character ${at}`);
      }
      const gone = await inDatabase((one) => one.prepare('DELETE FROM workroom_catalog WHERE stream = ?').run(stream));
      assert.deepEqual(gone, differs(stream), stream);
    }
    const swapped = await inDatabase((one) =>
      one.exec(`UPDATE workroom_catalog SET stream = 'x' WHERE stream = 'item/web-1';
        UPDATE workroom_catalog SET stream = 'item/web-1' WHERE stream = 'item/web-2';
        UPDATE workroom_catalog SET stream = 'item/web-2' WHERE stream = 'x'`),
    );
    assert.deepEqual(swapped, differs('item/web-1'));
    const cut = await inDatabase((one) => one.exec("DELETE FROM workroom_catalog WHERE stream > 'item/web-1'"));
    assert.equal(cut?.[2], 'catalog_differs');
  });

  it('names the head that is another', async () => {
    const later = await inDatabase((one) => one.exec('UPDATE workroom_head SET seq = seq + 1'));
    assert.deepEqual(later, [String(last() + 1), '', 'truncated']);
    const other = await inDatabase((one) => one.exec(`UPDATE workroom_head SET hash = '${'0'.repeat(64)}'`));
    assert.deepEqual(other, [String(last()), '', 'changed']);
  });
}

function inFiles({ found, made }: Copies): void {
  const streamOf = (seq: number): string => made().streams[seq - 1] ?? '';
  const last = (): number => made().streams.length;
  const middle = 10;
  const segmentIn = (path: string): string => {
    const folder = projectPaths(path).workroomJournal;
    return join(folder, readdirSync(folder)[0] ?? '');
  };
  /** The header, then a line for each event. */
  const lines = (): readonly string[] => readFileSync(segmentIn(made().project.path), 'latin1').split(/(?<=\n)/);
  const written = (text: string) => found((path) => writeFileSync(segmentIn(path), text, 'latin1'));
  const catalogIn = (path: string): string => projectPaths(path).workroomCatalog;
  const catalog = (): string => readFileSync(catalogIn(made().project.path), 'latin1');
  const shown = (text: string) => found((path) => writeFileSync(catalogIn(path), text, 'latin1'));

  it('names each event in which a byte is another', async () => {
    const all = lines();
    for (const seq of [1, middle, last()]) {
      const line = all[seq] ?? '';
      const json = line.indexOf('{');
      // The checksum, the length, the event, the end of the line.
      for (const at of [0, json - 2, json, Math.floor(line.length / 2), line.length - 2]) {
        const told = await written(all.with(seq, flipped(line, at)).join(''));
        assert.deepEqual(told, [String(seq), streamOf(seq), 'changed'], `event ${seq}, byte ${at}`);
      }
    }
  });

  it('names the header in which a byte is another', async () => {
    const all = lines();
    const [header = ''] = all;
    for (const at of [0, header.indexOf('version') + 9, header.length - 3])
      assert.deepEqual(await written(all.with(0, flipped(header, at)).join('')), ['1', '', 'changed'], `byte ${at}`);
    const project = header.indexOf('"project":"') + 11;
    assert.deepEqual(await written(all.with(0, flipped(header, project)).join('')), ['1', '', 'foreign']);
  });

  it('names where a line is gone, two have changed places, or the end is cut', async () => {
    const all = lines();
    for (const seq of [1, middle])
      assert.deepEqual(await written(all.toSpliced(seq, 1).join('')), [String(seq), '', 'missing']);
    for (const kept of [0, middle, last() - 1])
      assert.deepEqual(await written(all.slice(0, kept + 1).join('')), [String(kept + 1), '', 'truncated']);
    const whole = all.join('');
    for (const bytes of [1, 20, (all.at(-1) ?? '').length - 1])
      assert.deepEqual(await written(whole.slice(0, -bytes)), [String(last()), '', 'truncated'], `${bytes} bytes`);
    for (const seq of [1, middle, last() - 1]) {
      const swapped = all.toSpliced(seq, 2, all[seq + 1] ?? '', all[seq] ?? '');
      assert.deepEqual(await written(swapped.join('')), [String(seq), streamOf(seq), 'reordered']);
    }
    assert.deepEqual(await found((path) => rmSync(segmentIn(path))), ['1', '', 'truncated']);
  });

  it('names each stream of which the catalog file shows something else', async () => {
    const text = catalog();
    const differs = (stream: string): First => ['', stream, 'catalog_differs'];
    const other = (words: string, changed: string) => shown(text.replace(words, changed));
    assert.deepEqual(await other('Home page', 'Home pagf'), differs('item/web-1'));
    assert.deepEqual(await other('The release', 'The releasd'), differs('item/web-2'));
    assert.deepEqual(await other('Web site', 'Web sitd'), differs('board/web'));
    assert.deepEqual(await other('"kind":"person"', '"kind":"persoo"'), differs('team'));
    const { items, ...rest } = JSON.parse(text) as { readonly items: Readonly<Record<string, unknown>> };
    const withItems = (changed: unknown) => shown(JSON.stringify({ ...rest, items: changed }));
    assert.deepEqual(await withItems({ 'web-2': items['web-2'] }), differs('item/web-1'));
    assert.deepEqual(await withItems({ 'web-1': items['web-2'], 'web-2': items['web-1'] }), differs('item/web-1'));
    for (const bytes of [0, 1, Math.floor(text.length / 2), text.length - 1])
      assert.deepEqual(await shown(text.slice(0, bytes)), differs(''), `${bytes} bytes`);
    assert.deepEqual(await shown(flipped(text, 0)), differs(''));
    assert.deepEqual(await found((path) => rmSync(catalogIn(path))), differs(''));
  });
}
