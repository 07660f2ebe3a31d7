// Client of one account: grammY's API over node:http, loaded at its first use. Also classifies the client's errors.
//
//   TELEGRAM-CLIENT-1  An error never contains the address of a call, because the address contains the token.
//   TELEGRAM-CLIENT-2  An answer without Telegram's JSON (a proxy's page, an empty 429) is read by its status and Retry-After.
import type { Api, InputFile } from 'grammy';
import { accountFailed } from '../../sdk/index.ts';
import { callPlatform, type PlatformAnswer, type PlatformCall } from '../../sdk/platform/platform-call.ts';
import type { Account } from './config.ts';

export interface Client {
  readonly api: Api['raw'];
  readonly InputFile: typeof InputFile;
}

const clients = new WeakMap<Account, Promise<Client>>();

/** One client for each account. */
export function clientOf(account: Account): Promise<Client> {
  let client = clients.get(account);
  if (client === undefined) {
    client = makeClient(account);
    clients.set(account, client);
  }
  return client;
}

async function makeClient({ token, apiUrl }: Account): Promise<Client> {
  const { Api, InputFile } = await import('grammy');
  const fetch = callTelegram as unknown as NonNullable<ConstructorParameters<typeof Api>[1]>['fetch'];
  const { raw } = new Api(token.reveal(), { apiRoot: apiUrl, timeoutSeconds: 90, ...(fetch && { fetch }) });
  return { api: raw, InputFile };
}

/** The part of fetch that grammY uses. grammY's signals are not those of Node, so the abort is passed on. */
async function callTelegram(
  url: string,
  { signal, method, headers = {}, body }: PlatformCall,
): Promise<{ json(): Promise<unknown> }> {
  const abort = new AbortController();
  signal.addEventListener('abort', () => abort.abort());
  if (signal.aborted) abort.abort();
  const response = await callPlatform(url, { method, headers, body, signal: abort.signal });
  return { json: () => readAnswer(response) };
}

async function readAnswer(response: PlatformAnswer): Promise<unknown> {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const answer = parsed(await response.text());
  if (answer?.ok === true) return answer;
  if (response.ok && answer === undefined) throw new Error('the answer is not JSON of Telegram');
  return {
    ok: false,
    error_code: answer?.error_code ?? response.status,
    description: answer?.description ?? `HTTP ${response.status}`,
    parameters: { ...(Number.isFinite(seconds) ? { retry_after: seconds } : {}), ...answer?.parameters },
  };
}

interface Answer {
  readonly ok: boolean;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: object;
}

function parsed(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'ok' in value ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

/** Telegram's refusal, or the reason why there is no answer. */
export type Failure =
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'account'; readonly error: Error }
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly reason: string;
      /** New id if the group has become a supergroup. */
      readonly movedTo: string | undefined;
    }
  /** The call may have had an effect. */
  | { readonly kind: 'unknown'; readonly error: Error };

const DEFAULT_WAIT_MS = 5_000;
const REMEDY =
  'ask @BotFather for the token (/token; /revoke makes a new one), put it into .env and reload; with a server of your own check apiUrl';

/** A self-hosted Bot API server answers an unknown, newer method with 404, the same status as for a wrong token. */
const LACKING = /method not found/i;

export function failureOf(error: unknown): Failure {
  const told = asTold(error);
  if (told === undefined)
    return { kind: 'unknown', error: new Error(`Telegram is not reached: ${networkCode(error)}`) };
  const { error_code: code, description, parameters } = told;
  if (code === 401 || (code === 404 && !LACKING.test(description)))
    return { kind: 'account', error: accountFailed(`Telegram refuses the token: ${code} ${description}`, REMEDY) };
  if (code === 429) {
    const seconds = parameters.retry_after;
    return { kind: 'later', afterMs: seconds === undefined ? DEFAULT_WAIT_MS : Math.ceil(seconds * 1_000) };
  }
  if (code >= 500) return { kind: 'unknown', error: new Error(`Telegram answered ${code}: ${description}`) };
  const moved = parameters.migrate_to_chat_id;
  return { kind: 'refused', code, reason: description, movedTo: moved === undefined ? undefined : String(moved) };
}

/** The error to throw where any failure ends the work. */
export function thrown(error: unknown): Error {
  const failure = failureOf(error);
  if (failure.kind === 'account' || failure.kind === 'unknown') return failure.error;
  if (failure.kind === 'later') return new Error(`Telegram asks for ${failure.afterMs} ms of quiet`);
  return new Error(`Telegram refuses: ${failure.code} ${failure.reason}`);
}

interface Told {
  readonly error_code: number;
  readonly description: string;
  readonly parameters: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

function asTold(error: unknown): Told | undefined {
  return error instanceof Error && 'error_code' in error && typeof error.error_code === 'number'
    ? (error as Error & Told)
    : undefined;
}

/** Only the error's code: its message may contain the address and with it the token. */
function networkCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at.name === 'AbortError' || at.name === 'TimeoutError') return at.name;
    at = 'error' in at ? at.error : at.cause;
  }
  return 'network error';
}
