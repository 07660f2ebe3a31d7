// Accounts (endpoints), for an operator to read and control.
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';
import type { PageRequest, Shown } from './items-api.ts';

export interface EndpointPage {
  /** Ordered by id. */
  readonly endpoints: readonly Readonly<Record<string, unknown>>[];
  /** Cursor of the next page; absent at the end. */
  readonly next?: string;
  readonly total: number;
}

export interface EndpointControl {
  list(request: Pick<PageRequest, 'after' | 'limit' | 'texts'>): Promise<EndpointPage>;
  /** `id` is `<owner>:<name>` or the short `<name>`. `texts` adds fields that demo scope does not see. Throws `not_found`. */
  show(
    id: string,
    texts: boolean,
  ): Promise<{ readonly endpoint: Readonly<Record<string, unknown>>; readonly revision: string }>;
  act(
    id: string,
    action: 'enable' | 'disable' | 'reconnect',
    change: { readonly caller: Caller; readonly revision: string | undefined; readonly keep?: Keep<Shown> },
  ): Promise<Shown>;
}
