// `svc checkpoint list|show`: read the folders of the project; no host is needed.
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
import { textArgument } from '../../options.ts';
import { byteText } from '../../output/byte-text.ts';
import { shown } from '../../output/printable.ts';

const list: Command = {
  noun: 'checkpoint',
  verb: 'list',
  summary: 'Lists checkpoints with age, size and how far each is proven; needs no host',
  examples: ['svc checkpoint list', 'svc checkpoint list --json'],
  async run(context) {
    const { print, json, project } = context;
    const all = storedCheckpoints(project());
    if (json) print.json({ checkpoints: all.map(summaryOf) });
    else if (all.length === 0) print.text('no checkpoint yet: svc checkpoint create');
    else
      print.table(
        ['name', 'age', 'size', 'level', 'reason'],
        all.map((one) => [
          one.name,
          ageOf(one.manifest?.createdAt),
          byteText(one.bytes),
          levelText(context, one),
          reasonText(one),
        ]),
      );
    return EXIT.ok;
  },
};

function levelText({ print }: CommandContext, { level, fault, verification }: StoredCheckpoint): string {
  const told = level === 'made' || verification === undefined ? level : `${level} ${ageOf(verification.at)} ago`;
  return fault === undefined ? told : print.color.bad(told);
}

const FAULT_CHARACTERS = 60;

/** A fault may be as long as a stack: the list shows its beginning, `svc checkpoint show` all of it. */
function reasonText({ manifest, fault }: StoredCheckpoint): string {
  const reason = manifest?.reason ?? '';
  if (fault === undefined) return shown(reason);
  const [line = ''] = fault.split('\n');
  const isWhole = line === fault && line.length <= FAULT_CHARACTERS;
  const told = isWhole ? line : `${line.slice(0, FAULT_CHARACTERS - 1).trimEnd()}…`;
  return shown(reason === '' ? told : `${reason}; ${told}`);
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
