// Calls an account's implementation over its open WebSocket connection, or over HTTP. State is kept by account object, so it lives as long as that.
import { SvcError } from '../../../../shared/svc-error.ts';
import { errorCode } from '../../../sdk/errors.ts';
import { accountFailed, type Link } from '../../../sdk/index.ts';
import { askedWaitMs } from '../../../sdk/platform/asked-wait.ts';
import { isObject, type Json } from '../../../sdk/platform/foreign-json.ts';
import type { Account } from '../config.ts';
import { idAt } from '../message/json.ts';
import type { Answer } from './answer.ts';
import { httpCall } from './http-api.ts';
import { putOff } from './pace.ts';
import type { Session } from './session.ts';

export interface Caller {
  /** Throws if the outcome is unknown. Throws `accountFailed` for a rejected token. */
  call(action: string, params: object, limitMs?: number): Promise<Answer>;
}

const sessions = new WeakMap<Account, Session>();
/** Index of the token that the implementation last accepted. */
const taken = new WeakMap<Account, number>();

export const sessionOf = ({ account }: Pick<Link<Account>, 'account'>): Session | undefined => sessions.get(account);

export function enter(account: Account, session: Session): void {
  sessions.set(account, session);
}
export function leave(account: Account, session: Session): void {
  if (sessions.get(account) === session) sessions.delete(account);
}

export function callerOf(link: Pick<Link<Account>, 'account' | 'signal'>): Caller {
  if (link.account.mode === 'http')
    return { call: (action, params, limitMs) => overHttp(link, action, { params, limitMs }) };
  const session = sessions.get(link.account);
  if (session === undefined) throw new SvcError('endpoint_unavailable', 'the implementation is not connected');
  return session;
}

/** Tokens in the order to try them. The last accepted one comes first. */
export function tokensOf(account: Account): readonly { readonly token: string | undefined; readonly index: number }[] {
  const tokens = account.accessTokens.map((secret, index) => ({ token: secret.reveal(), index }));
  if (tokens.length === 0) return [{ token: undefined, index: 0 }];
  const last = taken.get(account) ?? 0;
  return [...tokens.slice(last), ...tokens.slice(0, last)];
}
export const tookToken = (account: Account, index: number): void => void taken.set(account, index);

/** A call with a rejected token was not executed, so the next token is tried. */
async function overHttp(
  link: Pick<Link<Account>, 'account' | 'signal'>,
  action: string,
  { params, limitMs }: { readonly params: object; readonly limitMs: number | undefined },
): Promise<Answer> {
  let refusal: unknown;
  for (const { token, index } of tokensOf(link.account)) {
    try {
      const answer = await httpCall(link, { action, params, token, ...(limitMs === undefined ? {} : { limitMs }) });
      tookToken(link.account, index);
      if (answer.kind === 'later') putOff(link.account, performance.now() + askedWaitMs(answer.afterMs));
      return answer;
    } catch (error) {
      if (errorCode(error) !== 'account_failed') throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** The bot's QQ number. Throws if it is unavailable, or differs from the account's. */
export async function loginOf(caller: Caller, { selfId }: Account): Promise<string> {
  const answer = await caller.call('get_login_info', {});
  if (answer.kind !== 'ok') throw new Error(answer.kind === 'later' ? 'get_login_info: asked to wait' : answer.reason);
  const self = isObject(answer.data) ? idAt(answer.data, 'user_id') : undefined;
  if (self === undefined || self === '0') throw new Error('get_login_info names no bot: it is not logged in');
  if (selfId !== undefined && selfId !== self)
    throw accountFailed(
      `the implementation has the bot ${self}, the account is set to ${selfId}`,
      'correct url or selfId in svc.config.yml and reload',
    );
  return self;
}

/** Undefined if the implementation does not tell. */
export async function statusOf(caller: Caller): Promise<Json | undefined> {
  const answer = await caller.call('get_status', {});
  return answer.kind === 'ok' && isObject(answer.data) ? answer.data : undefined;
}
