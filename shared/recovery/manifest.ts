// What a checkpoint says of itself: `manifest.json`, format `svc.checkpoint/1`. It is written last, so a folder without it is no checkpoint.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { loadAjv } from '../load-ajv.ts';
import { SvcError } from '../svc-error.ts';
import { CHECKPOINT_FILES } from './layout.ts';

export const MANIFEST_FORMAT = 'svc.checkpoint/1';

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const manifestSchema = Type.Object(
  {
    format: Type.Literal(MANIFEST_FORMAT),
    /** Unique in the world. */
    id: text,
    name: Type.String({ pattern: '^c[1-9][0-9]{0,8}$' }),
    /** The project id of the database. */
    project: text,
    /** RFC 3339, UTC. */
    createdAt: text,
    reason: orNull(text),
    svc: text,
    node: text,
    tz: Type.Object({ zone: text, tzdata: text }),
    /** Null outside a git repository. */
    commit: orNull(Type.Object({ id: text, dirty: Type.Boolean() })),
    lockfile: orNull(Type.Object({ sha256 })),
    config: Type.Object({
      version: text,
      sha256,
      /** False: the files differ from what the host has loaded, or no host was running and nothing is known. */
      isRunning: Type.Boolean(),
    }),
    schema: Type.Object({
      migrations: Type.Array(Type.Object({ id: count, sha256, breaking: Type.Boolean() })),
    }),
    database: Type.Object({
      dialect: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
      /** Rows of each table. */
      rows: Type.Record(text, count),
      /** Label of a backup that another tool makes (PostgreSQL). */
      external: Type.Optional(text),
    }),
    events: Type.Object({ epoch: text, head: count, oldest: count }),
    generation: count,
    /** Null on a host that is no Workroom. */
    journal: orNull(Type.Object({ store: text, seq: count, hash: text })),
    catalog: orNull(Type.Object({ appliedSeq: count })),
    jobs: Type.Object({ count, revision: count, targets: Type.Array(text) }),
    /** Items and sends that had not ended at the barrier. */
    open: Type.Object({ inbox: count, outbox: count }),
    /** Files of `data/media`. */
    files: Type.Object({ count, bytes: count }),
    /** Names of secrets, each with a keyed digest of its value: it tells "changed" where the key is the same, elsewhere nothing. */
    secrets: Type.Array(Type.Object({ name: text, print: text })),
    /** Every file of the folder but the manifest, by path, and those of `files/` that it needs (`files/<sha256>`). */
    parts: Type.Array(Type.Object({ path: text, bytes: count, sha256 })),
    /** What it was where it was made, if an import has brought it. */
    imported: Type.Optional(Type.Object({ name: text, manifest: sha256, at: text })),
  },
  { additionalProperties: true },
);
export type Manifest = Static<typeof manifestSchema>;

/** Throws `checkpoint_damaged`, and `schema_newer` for the format of a newer svc. `folder` is that of the checkpoint. */
export function readManifest(folder: string): Manifest {
  const file = join(folder, CHECKPOINT_FILES.manifest);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw damaged(file, 'cannot be read', error);
  }
  return parseManifest(text, file);
}

/** Compiled once: a running host reads the manifests of all its checkpoints, again and again. */
let checkManifest: ValidateFunction<Manifest> | undefined;

/** `from` names the place in errors. Throws as `readManifest`. */
export function parseManifest(text: string, from: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged(from, 'is no JSON', error);
  }
  const format = (value as { readonly format?: unknown } | null)?.format;
  if (typeof format === 'string' && format.startsWith('svc.checkpoint/') && format !== MANIFEST_FORMAT)
    throw new SvcError('schema_newer', `${from} has the format ${format}; this svc knows ${MANIFEST_FORMAT}`, {
      hint: 'Use the svc that made this checkpoint, or a newer one.',
    });
  const isManifest = (checkManifest ??= new (loadAjv())({ strict: false, allErrors: false }).compile<Manifest>(
    manifestSchema,
  ));
  if (isManifest(value)) return value;
  const [fault] = isManifest.errors ?? [];
  throw damaged(
    from,
    `${fault?.instancePath === '' ? 'it' : (fault?.instancePath ?? 'it')} ${fault?.message ?? 'is wrong'}`,
  );
}

const damaged = (file: string, why: string, cause?: unknown): SvcError =>
  new SvcError('checkpoint_damaged', `${file}: ${why}`, {
    cause,
    hint: '`svc checkpoint list` names the newest one that was rehearsed.',
  });
