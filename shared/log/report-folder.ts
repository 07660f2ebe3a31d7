// .svc/reports/: reports on workers that fell silent. Number and size are bounded, and the newest stay. Uses `node:fs` only.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stableJson, writeFileAtomic } from '../files/atomic-file.ts';

const KEPT = 10;
const KEPT_BYTES = 2 * 1024 * 1024;

/** One file for each worker run, written while its event loop is blocked. */
export const blockedReportPath = (folder: string, runtimeId: string): string =>
  join(folder, `blocked-${runtimeId}.json`);

/** Writes a report, replacing one of the same name, then removes the oldest above the limits. Throws file system errors. */
export function writeReport(path: string, folder: string, text: string | object): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileAtomic(path, typeof text === 'string' ? text : stableJson(text));
  const reports = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return { name, size, mtimeMs };
    })
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  let bytes = 0;
  for (const [index, { name, size }] of reports.entries()) {
    bytes += size;
    if (index > 0 && (index >= KEPT || bytes > KEPT_BYTES)) rmSync(join(folder, name), { force: true });
  }
}
