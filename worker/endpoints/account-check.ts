// Check of one account by its adapter against the platform.
//
//   ACCOUNT-CHECK-1  The check takes at most ten seconds. Findings until then are kept, and the timeout is a finding too.
//   ACCOUNT-CHECK-2  A check that cannot be made does not pass: an adapter without `check`, or with no findings, is an error.
//   ACCOUNT-CHECK-3  No finding holds a secret of the account.

import { messageOf } from '../../shared/svc-error.ts';
import { within } from '../../shared/time/abort.ts';
import { MOST_SKEW_MS, skewMs, type ToldTime } from '../../shared/time/clock-skew.ts';
import { errorCode } from '../sdk/errors.ts';
import type { AdapterDefinition } from '../sdk/index.ts';
import type { CheckResult, CheckTools } from '../sdk/platform/account-check.ts';

export interface AccountToCheck {
  readonly adapter: Pick<AdapterDefinition<never>, 'name' | 'check'>;
  readonly account: unknown;
  readonly endpoint: string;
  readonly url: string | undefined;
  readonly log: CheckTools['log'];
  readonly mask: (text: string) => string;
  /** Default 10 000. */
  readonly limitMs?: number;
}

const LIMIT_MS = 10_000;
/** Time between the abort signal and the limit, so that a connection can close cleanly. */
const FAREWELL_MS = 500;
const CLOCK_LIMIT_MS = 5_000;
/** Platforms refuse signatures older than this, and so does this host. */
const SIGNATURE_MS = 300_000;

/** Never rejects. */
export async function checkAccount({ limitMs = LIMIT_MS, ...of }: AccountToCheck): Promise<readonly CheckResult[]> {
  const { adapter, mask } = of;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limitMs - FAREWELL_MS);
  const found: CheckResult[] = [];
  try {
    const work = collect(of, { found, signal: abort.signal });
    const end = await within(work, { ms: limitMs, late: 'late' as const });
    const isOver = end === 'late' || abort.signal.aborted;
    if (isOver) found.push(timeIsOver(limitMs));
    else if (found.length === 0) found.push(notChecked(adapter.name));
    return found.map((one) => masked(one, mask));
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

interface Collected {
  readonly found: CheckResult[];
  readonly signal: AbortSignal;
}

/** Never rejects: an exception of the adapter becomes a finding. */
async function collect(of: Omit<AccountToCheck, 'limitMs'>, { found, signal }: Collected): Promise<void> {
  const { adapter, account, endpoint, url, log } = of;
  const clock = (platform: string | Date): Promise<CheckResult> =>
    typeof platform === 'string' ? askClock(platform, signal) : Promise.resolve(compared(now(platform)));
  try {
    const findings = adapter.check?.(account as never, { endpoint, log, signal, url, clock }) ?? [];
    for await (const one of findings) found.push(one);
  } catch (error) {
    if (!signal.aborted) found.push(failure(error));
  }
}

function failure(error: unknown): CheckResult {
  if (errorCode(error) === 'account_failed')
    return {
      name: 'account',
      status: 'error',
      detail: messageOf(error),
      remedy: String((error as { remedy?: unknown }).remedy ?? ''),
    };
  const detail = messageOf(error);
  return { name: 'platform', status: 'error', detail, remedy: remedyOf(detail) };
}

const UNREACHED = 'is the platform up, and may this machine reach it? Then try again';
/** Matches messages and codes of Node and OpenSSL. */
const UNTRUSTED = /certificate|_CERT\b|_CERT_|LEAF_SIGNATURE/i;
const NO_TLS = /wrong version number|\bEPROTO\b|ERR_SSL_/;

function remedyOf(detail: string): string {
  if (UNTRUSTED.test(detail))
    return 'somebody answers whose certificate is not trusted: is the address right, and the clock? A CA of your own: NODE_EXTRA_CA_CERTS=<file> before this command and before svc runtime start, not in .env';
  if (NO_TLS.test(detail)) return 'does that port speak TLS? Correct the address, the port or tls';
  return UNREACHED;
}

const timeIsOver = (limitMs: number): CheckResult => ({
  name: 'time',
  status: 'error',
  detail: `not done within ${limitMs / 1_000} s`,
  remedy: UNREACHED,
});

const notChecked = (adapter: string): CheckResult => ({
  name: 'check',
  status: 'error',
  detail: `the adapter ${adapter} has no check of its own: nothing was asked`,
  remedy: 'start the host, then: svc endpoints list',
});

const masked = ({ name, status, detail, remedy }: CheckResult, mask: (text: string) => string): CheckResult => ({
  name: mask(String(name)),
  status: KNOWN.has(status) ? status : 'error',
  detail: mask(String(detail)),
  ...(remedy === undefined || remedy === '' ? {} : { remedy: mask(String(remedy)) }),
});
const KNOWN: ReadonlySet<string> = new Set<CheckResult['status']>(['ok', 'warn', 'error', 'skip']);

/** Sends HEAD without credentials, because any HTTP answer has a date. */
async function askClock(address: string, signal: AbortSignal): Promise<CheckResult> {
  const askedAt = Date.now();
  try {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(CLOCK_LIMIT_MS)]);
    const response = await fetch(address, { method: 'HEAD', redirect: 'manual', signal: ended });
    await response.body?.cancel();
    const told = Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(told)) return untold('its answer has no date');
    return compared({ told, askedAt, answeredAt: Date.now() });
  } catch {
    return untold('it did not answer to HEAD');
  }
}

const untold = (why: string): CheckResult => ({ name: 'clock', status: 'skip', detail: `not compared: ${why}` });

const now = (told: Date): ToldTime => ({ told: told.getTime(), askedAt: Date.now(), answeredAt: Date.now() });

function compared(times: ToldTime): CheckResult {
  const apartMs = skewMs(times);
  if (apartMs <= MOST_SKEW_MS) return { name: 'clock', status: 'ok', detail: "our clock and the platform's agree" };
  return {
    name: 'clock',
    status: apartMs < SIGNATURE_MS ? 'warn' : 'error',
    detail: `our clock and the platform's are ${Math.round(apartMs / 1_000)} s apart: over 300 s signatures with a time are refused`,
    remedy: 'timedatectl set-ntp true',
  };
}
