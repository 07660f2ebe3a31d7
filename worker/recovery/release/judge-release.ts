// Judges the window of a release from the database file, beside a host or without one.
import { resolve } from 'node:path';
import { loadConfig } from '../../../shared/config/load.ts';
import { SqliteReader } from '../../database/reader.ts';
import { openReadOnly } from '../../database/sqlite/connection.ts';
import { judge, type Verdict } from './verdict.ts';
import { readWindow, requiredNames, type WindowSpan } from './window-facts.ts';

export interface JudgeOptions extends WindowSpan {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Throws what the configuration and the database throw. */
export async function judgeRelease({ project, environment, ...span }: JudgeOptions): Promise<Verdict> {
  const { config } = loadConfig({ project, mode: 'production', environment, servesNothing: true });
  const file = resolve(project, config.database.filename);
  const required = requiredNames(config.http.readiness.endpoints);
  const reader = new SqliteReader(() => openReadOnly(file));
  try {
    return judge(await readWindow(reader, span, required));
  } finally {
    reader.end();
  }
}
