// What a send is about, and how it ends where GitHub was not even asked or said nothing of interest.
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
