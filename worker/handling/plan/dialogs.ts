// Dialogs. The next question is computed from the known answers; no position is stored. Pure, except for the plugin's own functions.
import type { Body, ChatCtx, Content } from '../../sdk/index.ts';
import { checkedContent } from '../run/body-shapes.ts';
import type { DialogRow } from '../run/run.ts';
import type { DialogCapability } from './capabilities.ts';
import { ANSWER_ACTION } from './routing.ts';

type Known = Readonly<Record<string, unknown>>;
type Steps = Readonly<
  Record<
    string,
    | {
        ask?(known: Known, ctx: ChatCtx): Body | Promise<Body>;
        when?(known: Known): boolean;
        check?(answer: unknown, ctx: ChatCtx): string | undefined | Promise<string | undefined>;
      }
    | undefined
  >
>;

export const DIALOG_EXPIRES_MS = 86_400_000;

export const stepsOf = (dialog: DialogCapability): Steps => dialog.spec.steps ?? {};

/** Name of the first answer that is missing and needed. */
export function nextQuestion(dialog: DialogCapability, known: Known, skipped: readonly string[]): string | undefined {
  const steps = stepsOf(dialog);
  return Object.keys(dialog.spec.answers).find(
    (name) => !Object.hasOwn(known, name) && !skipped.includes(name) && (steps[name]?.when?.(known) ?? true),
  );
}

/** The question as a message: the step's text or the answer's title, with buttons for choices. */
export async function questionOf(
  dialog: DialogCapability,
  { name, known }: { readonly name: string; readonly known: Known },
  ctx: ChatCtx,
): Promise<Content> {
  const schema = (dialog.spec.answers[name] ?? {}) as {
    readonly title?: string;
    readonly enum?: readonly unknown[];
    readonly type?: string;
  };
  const content = checkedContent(dialog.id, (await stepsOf(dialog)[name]?.ask?.(known, ctx)) ?? schema.title ?? name);
  const choices = schema.enum?.map(String) ?? (schema.type === 'boolean' ? ['yes', 'no'] : []);
  if (content.buttons !== undefined || choices.length === 0) return content;
  return { ...content, buttons: choices.map((label) => ({ label, action: ANSWER_ACTION, data: label })) };
}

export function openDialog(
  dialog: DialogCapability,
  state: { readonly known: Known; readonly skipped: readonly string[]; readonly asked: string },
  now: number,
): DialogRow {
  return {
    capability: dialog.id,
    data: state.known,
    skipped: state.skipped,
    asked: state.asked,
    expiresAt: now + Math.ceil(dialog.spec.expiresMs ?? DIALOG_EXPIRES_MS),
  };
}
