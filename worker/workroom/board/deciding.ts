// What every decision starts from, and how it says no. Pure.
import type { Actor, Refusal, RefusalCode, View } from './model.ts';

export interface Deciding {
  readonly view: View;
  readonly actor: Actor;
  /** Epoch milliseconds. */
  readonly now: number;
}

export const refused = (code: RefusalCode, reason: string): Refusal => ({ kind: 'refused', code, reason });

export const said = ({ text }: { readonly text?: string | undefined }): Readonly<Record<string, string>> =>
  text === undefined ? {} : { text };
