// `svc checkpoint list|show`: read the folders of the project; no host is needed. A running one tells why its last checkpoint failed.
import type { Checkpoints } from '../../../../shared/api/recovery/checkpoint.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { CHECKPOINT_NAME, checkpointFolder } from '../../../../shared/recovery/layout.ts';
import { readManifest } from '../../../../shared/recovery/manifest.ts';
import {
  readVerification,
  type StoredCheckpoint,
  storedCheckpoint,
  storedCheckpoints,
} from '../../../../shared/recovery/stored-checkpoints.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import { waitText } from '../../../../shared/time/wait-text.ts';
import type { Command, CommandContext } from '../../command.ts';
import { findRunning } from '../../connect/control-client.ts';
import { textArgument } from '../../options.ts';
import { byteText } from '../../output/byte-text.ts';
import { faultText, levelText } from '../../output/checkpoint-text.ts';
import { shown } from '../../output/printable.ts';

const list: Command = {
  noun: 'checkpoint',
  verb: 'list',
  summary: 'Lists checkpoints with age, size and how far each is proven; needs no host',
  examples: ['svc checkpoint list', 'svc checkpoint list --json'],
  async run(context) {
    const { print, json, project } = context;
    const folder = project();
    const all = storedCheckpoints(folder);
    if (json) {
      print.json({ checkpoints: all.map(summaryOf), failure: await lastFailure(context, folder, all) });
      return EXIT.ok;
    }
    if (all.length === 0) print.text('no checkpoint yet: svc checkpoint create');
    else
      print.table(
        ['name', 'age', 'size', 'level', 'reason'],
        all.map((one) => [
          one.name,
          ageOf(one.manifest?.createdAt),
          byteText(one.bytes),
          provenText(context, one),
          reasonText(one),
        ]),
      );
    const failure = await lastFailure(context, folder, all);
    if (failure !== null) print.note(print.color.warn(failureText(failure)));
    return EXIT.ok;
  },
};

/** The list does not wait for a host that is busy. */
const ANSWER_MS = 2_000;

type Failure = NonNullable<Checkpoints['failure']>;

/** Why a running host could not make the one that would be the newest. Null where there is none, and where no host tells. */
async function lastFailure(
  { host }: CommandContext,
  project: string,
  all: readonly StoredCheckpoint[],
): Promise<Failure | null> {
  try {
    if ((await findRunning(project))?.status.state !== 'running') return null;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { failure } = (await (await host()).request('GET', '/api/checkpoints', { signal })).body as Checkpoints;
    const newest = all.find(({ manifest }) => manifest !== undefined)?.manifest?.createdAt;
    return failure !== null && (newest === undefined || failure.at >= newest) ? failure : null;
  } catch {
    return null; // the list itself needs no host
  }
}

function failureText({ at, code, message = code, hint }: Failure): string {
  return shown(`the last one failed ${ageOf(at)} ago: ${message}${hint == null ? '' : `. ${hint}`}`);
}

function provenText({ print }: CommandContext, { level, fault, verification }: StoredCheckpoint): string {
  const told = levelText({ level, verifiedAt: verification?.at ?? null });
  return fault === undefined ? told : print.color.bad(told);
}

function reasonText({ manifest, fault }: StoredCheckpoint): string {
  const reason = shown(manifest?.reason ?? '');
  if (fault === undefined) return reason;
  return reason === '' ? faultText(fault) : `${reason}; ${faultText(fault)}`;
}

function ageOf(time: string | undefined): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '-' : waitText(Date.now() - at);
}

export const summaryOf = ({ name, manifest, verification, bytes, level, fault }: StoredCheckpoint): object => ({
  name,
  createdAt: manifest?.createdAt ?? null,
  bytes,
  level,
  reason: manifest?.reason ?? null,
  verifiedAt: verification?.at ?? null,
  fault: fault ?? null,
});

const show: Command = {
  noun: 'checkpoint',
  verb: 'show',
  args: '<name>',
  summary: 'Shows what a checkpoint holds and when it was proven; needs no host',
  examples: ['svc checkpoint show c12', 'svc checkpoint show c12 --json'],
  async run({ print, json, project }, [given]) {
    const name = checkpointName(given);
    const folder = project();
    const known = storedCheckpoint(folder, name);
    if (known === undefined)
      throw new SvcError('not_found', `there is no checkpoint ${name}`, { hint: 'svc checkpoint list' });
    const manifest = readManifest(checkpointFolder(folder, name));
    const verification = readVerification(folder, name) ?? null;
    if (json) {
      print.json({ manifest, verification });
      return EXIT.ok;
    }
    const { parts, database, secrets, schema, ...rest } = manifest;
    const rows = Object.values(database.rows).reduce((sum, count) => sum + count, 0);
    const told = {
      ...rest,
      level: known.fault === undefined ? known.level : `${known.level}: ${known.fault}`,
      verification,
      schema: schema.migrations.at(-1)?.id ?? 0,
      database: `${database.dialect}, ${rows} rows`,
      secrets: secrets.map((secret) => secret.name),
      parts: `${parts.length} files, ${byteText(known.bytes)}`,
    };
    for (const [key, value] of Object.entries(told)) print.text(`${print.color.dim(`${key}:`)} ${shown(value)}`);
    return EXIT.ok;
  },
};

/** Throws `usage`: a name is part of a path. */
export function checkpointName(given: string | readonly string[] | undefined): string {
  const name = textArgument(given, '<name>');
  if (!CHECKPOINT_NAME.test(name))
    throw new SvcError('usage', 'a checkpoint has a name like c12', { hint: 'svc checkpoint list' });
  return name;
}

export const commands: Command[] = [list, show];
