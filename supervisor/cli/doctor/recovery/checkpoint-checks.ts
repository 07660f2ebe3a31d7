// Checks of checkpoints: that there is a young one, that it was proven, that the next one has room, and that not all lie on one disk.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../../shared/config/load.ts';
import {
  failedCheckpoint,
  type StoredCheckpoint,
  storedCheckpoints,
} from '../../../../shared/recovery/stored-checkpoints.ts';
import { waitText } from '../../../../shared/time/wait-text.ts';
import { type Check, type Finding, fault, ok, type Subject, skip, warn, withConfig } from '../check.ts';

export const CHECKPOINT_CHECKS: readonly Check[] = [
  { id: 'checkpoint.age', title: 'There is a young checkpoint', run: withConfig(age) },
  { id: 'checkpoint.verified', title: 'Checkpoints were proven', run: withConfig(verified) },
  { id: 'checkpoint.room', title: 'The next checkpoint has room', run: withConfig(room) },
  { id: 'checkpoint.place', title: 'Checkpoints lie on another disk as well', run: withConfig(place) },
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CREATE = 'svc checkpoint create';

const databaseOf = ({ config }: LoadedConfig, { paths }: Subject): string =>
  resolve(paths.project, config.database.filename);
const goodOf = ({ paths }: Subject): readonly StoredCheckpoint[] =>
  storedCheckpoints(paths.project).filter(({ fault: damage }) => damage === undefined);
const ageOf = (time: string | undefined): number => Date.now() - Date.parse(time ?? '');

function age(loaded: LoadedConfig, subject: Subject): Finding {
  const { everyHours } = loaded.config.recovery;
  const database = databaseOf(loaded, subject);
  if (!existsSync(database)) return skip('no database yet');
  const [newest] = goodOf(subject);
  const limitMs = 2 * everyHours * HOUR_MS;
  if (newest === undefined) {
    const { birthtimeMs } = statSync(database);
    if (everyHours === 0) return warn('there is none, and recovery.everyHours is 0', CREATE);
    return birthtimeMs > 0 && Date.now() - birthtimeMs > limitMs
      ? warn('there is none', `${CREATE}; svc runtime logs --level error says why the host made none`)
      : ok('none yet: the host makes the first by itself');
  }
  const ageMs = ageOf(newest.manifest?.createdAt);
  const told = `${newest.name} is ${waitText(ageMs)} old`;
  return everyHours > 0 && ageMs > limitMs
    ? warn(told, `${CREATE}; svc runtime logs --level error says why the host made none`)
    : ok(told);
}

function verified({ config }: LoadedConfig, subject: Subject): Finding {
  const all = storedCheckpoints(subject.paths.project);
  const [newest] = all;
  if (newest === undefined) return skip('no checkpoint yet');
  const failed = failedCheckpoint(all);
  if (failed !== undefined) {
    const isDamaged = failed.level === 'damaged';
    const told = isDamaged ? `${failed.name} is damaged` : `the verification of ${failed.name} failed`;
    return fault(
      `${told}: ${failed.fault}`,
      isDamaged && failed === newest ? CREATE : `svc checkpoint verify ${newest.name}`,
    );
  }
  const { verifyDays } = config.recovery;
  const rehearsed = all.find(({ level }) => level === 'rehearsed');
  const limitMs = 2 * verifyDays * DAY_MS;
  const isLate = ageOf(rehearsed?.verification?.at ?? all.at(-1)?.manifest?.createdAt) > limitMs;
  const told =
    rehearsed === undefined
      ? 'none was rehearsed yet'
      : `${rehearsed.name} was rehearsed ${waitText(ageOf(rehearsed.verification?.at))} ago`;
  return verifyDays > 0 && isLate ? warn(told, `svc checkpoint verify ${newest.name}`) : ok(told);
}

function room(loaded: LoadedConfig, subject: Subject): Finding {
  const database = databaseOf(loaded, subject);
  const size = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const needed = Math.ceil((size(database) + size(`${database}-wal`)) * 1.1);
  if (needed === 0) return skip('no database yet');
  const { stateDir, checkpointsDir } = subject.paths;
  const { bavail, bsize } = statfsSync(existsSync(checkpointsDir) ? checkpointsDir : stateDir);
  const mib = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MiB`;
  const told = `${mib(needed)} are needed, ${mib(bavail * bsize)} are free`;
  return bavail * bsize < needed ? warn(told, 'svc checkpoint prune, or free disk space') : ok(told);
}

function place({ config }: LoadedConfig, { paths }: Subject): Finding {
  if (storedCheckpoints(paths.project).length === 0) return skip('no checkpoint yet');
  const { copyTo } = config.recovery;
  const fix = 'set recovery.copyTo to a folder on another disk, or export: svc checkpoint export';
  if (copyTo === undefined) return warn('they lie on the disk of the state alone', fix);
  const folder = resolve(paths.project, copyTo);
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there === undefined)
    return warn(`recovery.copyTo is not there: ${folder}`, `mount it, or make it: mkdir ${folder}`);
  return there.dev === statSync(paths.stateDir).dev
    ? warn(`recovery.copyTo is on the disk of the state: ${folder}`, fix)
    : ok(folder);
}
