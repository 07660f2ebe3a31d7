// Buttons as Telegram has them. Pure.
import type { InlineKeyboardMarkup } from 'grammy/types';
import type { Outgoing } from '../../sdk/index.ts';
import { literal } from './render.ts';

type Buttons = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>['buttons'];

/** What stands over buttons that have no text: a message without any is refused, and an album holds none. */
export const labelsOf = (buttons: Buttons): string => literal(buttons.map(({ label }) => label).join(' · '));

const ROW_CHARACTERS = 30;
const ROW_BUTTONS = 4;

/** Short ones side by side, in their order. */
export function keyboardOf(buttons: Buttons): InlineKeyboardMarkup | undefined {
  if (buttons.length === 0) return undefined;
  const rows: { text: string; callback_data: string; style?: 'primary' | 'danger' }[][] = [];
  let used = 0;
  for (const { label, token, style } of buttons) {
    const row = rows.at(-1);
    const button = { text: label, callback_data: token, ...(style === undefined ? {} : { style }) };
    used += label.length;
    if (row !== undefined && row.length < ROW_BUTTONS && used <= ROW_CHARACTERS) row.push(button);
    else {
      rows.push([button]);
      used = label.length;
    }
  }
  return { inline_keyboard: rows };
}
