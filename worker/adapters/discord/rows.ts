// Buttons in Discord's form: five in a row, at most five rows. Pure.
import type { Outgoing } from '../../sdk/index.ts';
import { toMarkdown } from './text.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;

const IN_ROW = 5;
const MOST_LABEL = 80;
/** Limit on the total length of labels. Escaped and in UTF-16, they then fit into one message. */
const MOST_LABELS = 1_000;
const STYLES = { primary: 1, danger: 4 } as const;
const SECONDARY = 2;

/** An empty list removes existing buttons. */
export function rowsOf(buttons: Post['buttons']): readonly object[] {
  const components = buttons.map(({ label, token, style }) => ({
    type: 2,
    style: style === undefined ? SECONDARY : STYLES[style],
    label: shortened(label),
    custom_id: token,
  }));
  return Array.from({ length: Math.ceil(components.length / IN_ROW) }, (_, i) => ({
    type: 1,
    components: components.slice(i * IN_ROW, (i + 1) * IN_ROW),
  }));
}

/** Discord refuses buttons without text, so the labels become the text. The labels are escaped. */
export function shownText({ text, buttons }: Pick<Post, 'text' | 'buttons'>): string {
  if (text !== '' || buttons.length === 0) return text;
  const labels = Array.from(buttons.map(({ label }) => shortened(label)).join(' · ')).slice(0, MOST_LABELS);
  return toMarkdown({ segments: [{ kind: 'text', text: labels.join('') }] });
}

function shortened(label: string): string {
  const letters = Array.from(label.trim() === '' ? '…' : label);
  return letters.length <= MOST_LABEL ? letters.join('') : `${letters.slice(0, MOST_LABEL - 1).join('')}…`;
}
