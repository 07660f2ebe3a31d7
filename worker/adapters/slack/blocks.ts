// Block Kit layout of a message with buttons: sections of text, then one row of buttons. Pure.
import type { Outgoing } from '../../sdk/index.ts';
import { literal } from './text.ts';

type Buttons = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>['buttons'];

/** Slack's limit for the text of one section. */
const SECTION = 3_000;
const LABEL = 75;
const FENCE = '```';

/** Undefined for a message without buttons, which is sent as plain text. */
export function blocksOf(text: string, buttons: Buttons): readonly object[] | undefined {
  if (buttons.length === 0) return undefined;
  const sections = sectionsOf(text).map((part) => ({ type: 'section', text: { type: 'mrkdwn', text: part } }));
  const elements = buttons.map(({ label, token, style }, index) => ({
    type: 'button',
    action_id: `svc-${index}`,
    text: { type: 'plain_text', text: shortened(label), emoji: true },
    value: token,
    ...(style === undefined ? {} : { style }),
  }));
  return [...sections, { type: 'actions', elements }];
}

/** Text for notifications and screen readers, which do not show blocks. */
export const fallbackOf = (text: string, buttons: Buttons): string =>
  text === '' ? literal(buttons.map(({ label }) => label).join(' · ')) : text;

const shortened = (label: string): string => {
  const letters = Array.from(label.trim() === '' ? '…' : label);
  return letters.length <= LABEL ? letters.join('') : `${letters.slice(0, LABEL - 1).join('')}…`;
};

/** Splits at a line break, else at a space, else before an escape or link. A code fence is closed and reopened. */
export function sectionsOf(text: string): readonly string[] {
  const sections: string[] = [];
  let rest = text;
  while (rest.length > SECTION) {
    const cut = cutOf(rest, SECTION - FENCE.length - 1);
    const head = rest.slice(0, cut).trimEnd();
    const isInFence = head.split(FENCE).length % 2 === 0;
    sections.push(isInFence ? `${head}\n${FENCE}` : head);
    rest = rest.slice(cut).replace(/^[ \n]/, '');
    if (isInFence) rest = `${FENCE}\n${rest}`;
  }
  return rest.trim() === '' ? sections : [...sections, rest];
}

function cutOf(text: string, limit: number): number {
  const least = limit / 3;
  for (const sign of ['\n', ' ']) {
    const at = text.lastIndexOf(sign, limit);
    if (at > least) return at;
  }
  const torn = /(?:&[a-z]{0,4}|<[^>]*|[\ud800-\udbff])$/.exec(text.slice(0, limit));
  return torn === null || torn.index < least ? limit : torn.index;
}
