// Codes by which a person links an account to a member: one use, an hour. Only the digest of a code is stored, outside of the journal.
import { randomBytes } from 'node:crypto';
import { type Core, commitOrThrow } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { GUARD } from './journal/append.ts';
import { sha256 } from './journal/chain.ts';

const HOUR_MS = 3_600_000;
const CODE_BYTES = 10;
const KEY = 'workroom_join/';

interface Stored {
  readonly member: string;
  readonly actor: string;
  readonly until: number;
}

/** A new code for a member. It is on disk when it is returned. */
export async function makeJoinCode(core: Core, member: string, actor: string): Promise<string> {
  const code = randomBytes(CODE_BYTES).toString('hex');
  const value = JSON.stringify({ member, actor, until: core.clock.now() + HOUR_MS } satisfies Stored);
  const old = statement(
    sql
      .deleteFrom('meta')
      .where('key', 'like', `${KEY}%`)
      .where(({ eb, fn, val }) => eb(fn('json_extract', ['value', val('$.until')]), '<', core.clock.now())),
  );
  const insert = statement(sql.insertInto('meta').values({ key: keyOf(code), value }));
  await commitOrThrow(core.writer, { name: 'workroom.code', statements: [old, insert] });
  return code;
}

/** The member of a code, and the statement that uses it up. Undefined for a code that is none, used or too old. */
export async function takeJoinCode(
  core: Core,
  code: string,
): Promise<{ readonly member: string; readonly actor: string; readonly statements: readonly Statement[] } | undefined> {
  const key = keyOf(code.trim());
  const row = await core.reader.first(sql.selectFrom('meta').select('value').where('key', '=', key));
  if (row === undefined) return undefined;
  const { member, actor, until } = JSON.parse(row.value) as Stored;
  if (until < core.clock.now()) return undefined;
  const used = statement(sql.deleteFrom('meta').where('key', '=', key), { expect: 1, guard: GUARD });
  return { member, actor, statements: [used] };
}

const keyOf = (code: string): string => `${KEY}${sha256(code)}`;
