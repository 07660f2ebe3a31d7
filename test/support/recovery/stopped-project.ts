// A project whose host has run and is stopped: a database with some rows, a jobs file, a stored file, code.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { sql, statement } from '../../../worker/database/statement.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import {
  type Cleanup,
  type TemporaryProject,
  type TemporaryProjectOptions,
  temporaryProject,
} from '../temporary-project.ts';

export interface StoppedProject extends TemporaryProject {
  /** SHA-256 of the file in `data/media`. */
  readonly media: string;
  /** Writes rows as a host would: key and value of `meta`, each with an event. */
  store(rows: Readonly<Record<string, string>>, beforeClose?: () => void): void;
  /** Returns the name. */
  make(reason?: string): Promise<string>;
}

export function stoppedProject(t: Cleanup, options: TemporaryProjectOptions = {}): StoppedProject {
  const project = temporaryProject(t, options);
  mkdirSync(project.paths.stateDir, { mode: 0o700 });
  const store: StoppedProject['store'] = (rows, beforeClose) => {
    const core = new WriterCore({ file: project.paths.database, now: Date.now });
    core.open();
    const statements = Object.entries(rows).map(([key, value]) =>
      statement(
        sql
          .insertInto('meta')
          .values({ key, value })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ value })),
      ),
    );
    const told = recordEvents([{ type: 'inbox.replayed', at: 1, runtimeId: 'r', data: { item: 'i' } }]);
    core.run([{ name: 'test', statements: [...statements, ...told] }]);
    beforeClose?.();
    core.close();
  };
  store({ project_id: 'p-1', epoch: 'abcdefghijklmnop' });
  const bytes = Buffer.from('a picture');
  const media = createHash('sha256').update(bytes).digest('hex');
  mkdirSync(project.paths.mediaDir, { recursive: true });
  writeFileSync(join(project.paths.mediaDir, media), bytes);
  const core = new WriterCore({ file: project.paths.database, now: Date.now });
  core.open();
  const row = { id: media, name: 'a.png', mime: 'image/png', bytes: bytes.length, created_at: 1, fetched_at: null };
  core.run([{ name: 'test', statements: [statement(sql.insertInto('files').values(row))] }]);
  core.close();
  project.write(
    'data/schedule-jobs.json',
    JSON.stringify({
      version: 1,
      revision: 4,
      jobs: [{ id: 'a', cron: '0 9 * * *', do: { say: { endpoint: 'echo', conversation: 'c', text: 'hi' } } }],
    }),
  );
  project.write('plugins/own/index.js', 'export default {};\n');
  const make = async (reason?: string): Promise<string> => {
    const made = await makeStopped({ project: project.path, environment: {}, reason: reason ?? null });
    return made.manifest.name;
  };
  return { ...project, media, store, make };
}
