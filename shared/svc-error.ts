// The only error class of svc. Expected outcomes are return values; this error is for cases in which a caller cannot continue.
import { ERRORS, type ErrorCode } from './error-codes.ts';

export interface SvcErrorOptions {
  readonly cause?: unknown;
  /** Advice for the reader: one sentence or a command. */
  readonly hint?: string;
  /** Machine-readable facts. Never a secret or text written by a person. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The message may be shown to every caller, whatever else their scope allows. */
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

  /** Compares name and code. CLI and worker bundles each have a copy of this class, and one process may load both. */
  static override [Symbol.hasInstance](value: unknown): value is SvcError {
    return value instanceof Error && value.name === 'SvcError' && 'code' in value;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Returns an SvcError unchanged. Any other error becomes `internal` with the original as cause. */
export function coerceError(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  return new SvcError('internal', messageOf(error), { cause: error });
}

/** The message of any thrown value. Never throws, even if reading the value does. */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const why = BARE.test(error.message) ? causeIn(error.cause) : '';
    return why === '' ? String(error.message) : `${error.message}: ${why}`;
  } catch {
    return UNREADABLE;
  }
}

/** Messages of `fetch` that hide the cause of a failed or truncated call. */
const BARE = /^(fetch failed|terminated)$/;

/** Uses the code if several addresses were tried, and for TLS errors. The text of those contains memory addresses that differ each time. */
function causeIn(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  const { code = '' } = cause as { readonly code?: unknown };
  return String(cause.message === '' || cause.message.includes(':SSL routines:') ? code : cause.message);
}

const UNREADABLE = 'an error that cannot be read';

/** Returns a thrown value, or a substitute error if reading it would throw (a getter, a proxy). */
export function readableError(error: unknown): unknown {
  try {
    String(error instanceof Error ? [error.message, error.stack] : error);
    // Reads every field that is logged or decides what happens next.
    if (typeof error === 'object' && error !== null) Object.values({ ...error });
    return error;
  } catch (cause) {
    return new Error(UNREADABLE, { cause: new Error(messageOf(cause)) });
  }
}
