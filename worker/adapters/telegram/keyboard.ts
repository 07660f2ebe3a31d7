// Converts buttons to Telegram's inline keyboard. Pure.
import type { InlineKeyboardMarkup } from 'grammy/types';
import type { Outgoing } from '../../sdk/index.ts';
import { literal } from './render.ts';

type Buttons = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>['buttons'];

/** Text for buttons without a text, since Telegram refuses an empty message. */
export const labelsOf = (buttons: Buttons): string => literal(buttons.map(({ label }) => label).join(' · '));

const ROW_CHARACTERS = 30;
const ROW_BUTTONS = 4;

/** Rows of buttons in order. Short labels share a row. */
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
