// Buttons as Discord has them: rows of five, at most five rows. Pure.
import type { Outgoing } from '../../sdk/index.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;

const IN_ROW = 5;
const MOST_LABEL = 80;
const STYLES = { primary: 1, danger: 4 } as const;
const SECONDARY = 2;

/** An empty list takes away those that are there. */
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

/** Buttons do not stand alone. */
export const shownText = ({ text, buttons }: Post): string =>
  text === '' && buttons.length > 0
    ? buttons
        .map(({ label }) => label)
        .join(' · ')
        .slice(0, 2_000)
    : text;

function shortened(label: string): string {
  const letters = Array.from(label.trim() === '' ? '…' : label);
  return letters.length <= MOST_LABEL ? letters.join('') : `${letters.slice(0, MOST_LABEL - 1).join('')}…`;
}
