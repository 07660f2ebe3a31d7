// The dependencies of every feature service of the worker: identity, time, writer, reader, log.

import type { ProjectId, RuntimeId } from '../../shared/identifiers.ts';
import type { Failpoint } from '../../shared/process/failpoints.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { Clock } from '../../shared/time/clock.ts';
import type { Reader, Statement, Unit, UnitAnswer, Writer } from '../database/unit.ts';

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Core {
  readonly runtimeId: RuntimeId;
  readonly projectId: ProjectId;
  readonly clock: Clock;
  readonly writer: Writer;
  readonly reader: Reader;
  /** Fence of units that claim work. Undefined if nobody else can write: in tests and one-shot commands. */
  readonly fence?: Statement;
  readonly log: Log;
  /** Removes known secrets and the path of the project from a text before it is stored or shown. Left out: texts stay as they are. */
  readonly mask?: (text: string) => string;
  /** Kill points of the crash kit; no effect in production. */
  readonly point: Failpoint;
}

/** Commits a unit that nothing can refuse. A refusal is a bug and is thrown. */
export async function commitOrThrow(writer: Writer, unit: Unit): Promise<Extract<UnitAnswer, { kind: 'committed' }>> {
  const answer = await writer.commit(unit);
  if (answer.kind === 'refused') throw new Error(`unit ${unit.name} was refused: ${answer.detail}`);
  return answer;
}

const MOST_CHARACTERS = 10_000;

/** The message of an error as it is stored, sent or shown: without secrets, at most 10,000 characters. */
export function reasonOf(core: Pick<Core, 'mask'>, error: unknown): string {
  const reason = maskedText(core, messageOf(error));
  return reason.length > MOST_CHARACTERS ? `${reason.slice(0, MOST_CHARACTERS)}…` : reason;
}

/** A text of an operator or of an error, as it is stored and shown: without known secrets. */
export const maskedText = ({ mask }: Pick<Core, 'mask'>, text: string): string =>
  mask === undefined ? text : mask(text);
