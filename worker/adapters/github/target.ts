// The target of a send, and results for sends that need no response of GitHub.
import type { Outgoing, SendResult } from '../../sdk/index.ts';
import type { Api } from './client.ts';
import type { Place } from './names.ts';

export interface Target {
  readonly api: Api;
  readonly place: Place;
}
export type Sent = Exclude<Outgoing, { readonly kind: 'typing' }>;
export type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;

export const SENT: SendResult = { kind: 'sent' };
export const refused = (reason: string): SendResult => ({ kind: 'refused', reason });
