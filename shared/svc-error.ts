// The one error class of svc. Expected outcomes are return values; this is for what a caller cannot go on from.
import { ERRORS, type ErrorCode } from './error-codes.ts';

export interface SvcErrorOptions {
  readonly cause?: unknown;
  /** What the reader can do about it, as one sentence or a command. */
  readonly hint?: string;
  /** Machine-readable facts; never a secret, never a text of a person. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Its message was written for whoever asked, whatever they may read otherwise. */
  readonly forEveryone?: boolean;
}

export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly forEveryone: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    { cause, hint, details = {}, forEveryone = false }: SvcErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.details = details;
    this.forEveryone = forEveryone;
  }

  /** By name and code: CLI and worker are bundles with a copy of this class each, and one process may hold both. */
  static override [Symbol.hasInstance](value: unknown): value is SvcError {
    return value instanceof Error && value.name === 'SvcError' && 'code' in value;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The same error when it already is one of ours, else an `internal` one with the original as cause. */
export function coerceError(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  return new SvcError('internal', messageOf(error), { cause: error });
}

/** The message of anything that was thrown, whatever it does when it is read. */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const why = BARE.test(error.message) ? causeIn(error.cause) : '';
    return why === '' ? String(error.message) : `${error.message}: ${why}`;
  } catch {
    return UNREADABLE;
  }
}

/** All that `fetch` says by itself when nothing came of a call, or its answer broke off. */
const BARE = /^(fetch failed|terminated)$/;

/** By the code where several addresses were tried, and for TLS, which names its memory and its sources: another text each time. */
function causeIn(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  const { code = '' } = cause as { readonly code?: unknown };
  return String(cause.message === '' || cause.message.includes(':SSL routines:') ? code : cause.message);
}

const UNREADABLE = 'an error that cannot be read';

/** What foreign code threw; where reading it would throw (a getter, a proxy, no way to a text), an error in its place. */
export function readableError(error: unknown): unknown {
  try {
    String(error instanceof Error ? [error.message, error.stack] : error);
    // Everything that is written into a log, and what says what is to happen.
    if (typeof error === 'object' && error !== null) Object.values({ ...error });
    return error;
  } catch (cause) {
    return new Error(UNREADABLE, { cause: new Error(messageOf(cause)) });
  }
}
