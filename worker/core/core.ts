// What every feature service of the worker is given: identity, time, the writer, the reader, the log.

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
  /** Of units that claim work (lanes/claims.ts). Undefined where nobody else can write: in tests and one-shot commands. */
  readonly fence?: Statement;
  readonly log: Log;
  /** Texts of errors and of operators as they may be stored and shown: without a known secret, or where the project lies. Left out: as they are. */
  readonly mask?: (text: string) => string;
  /** Kill points of the crash kit; does nothing in production. */
  readonly point: Failpoint;
}

/** Commits a unit that nothing can refuse; a refusal is a bug and thrown. */
export async function commitOrThrow(writer: Writer, unit: Unit): Promise<Extract<UnitAnswer, { kind: 'committed' }>> {
  const answer = await writer.commit(unit);
  if (answer.kind === 'refused') throw new Error(`unit ${unit.name} was refused: ${answer.detail}`);
  return answer;
}

const MOST_CHARACTERS = 10_000;

/** What an error says, without a secret that it quotes: for what is stored, sent as an event, or shown. One that says too much is cut. */
export function reasonOf(core: Pick<Core, 'mask'>, error: unknown): string {
  const reason = maskedText(core, messageOf(error));
  return reason.length > MOST_CHARACTERS ? `${reason.slice(0, MOST_CHARACTERS)}…` : reason;
}

/** A text of an operator or of an error without a secret that it quotes: the form in which it is stored, and so shown. */
export const maskedText = ({ mask }: Pick<Core, 'mask'>, text: string): string =>
  mask === undefined ? text : mask(text);
