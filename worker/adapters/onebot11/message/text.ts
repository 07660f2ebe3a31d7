// Renders outgoing text. QQ shows no formatting, so marks are dropped, and code and quotes get their own lines.
// Mentions become CQ codes, which are split off again before sending. Pure.

import type { Rich } from '../../../sdk/index.ts';
import { plainText, type Segment } from '../../../sdk/message.ts';
import { escapeText, formatCq } from './cq-code.ts';

export function toCq({ segments }: Rich): string {
  let out = '';
  let isOpen = false; // text after a block needs a new line
  for (const segment of segments) {
    const isBlock = segment.kind === 'code' || segment.kind === 'quote';
    const text = segmentToCq(segment);
    if (text === '') continue;
    if ((isOpen || (isBlock && out !== '')) && !out.endsWith('\n') && !text.startsWith('\n')) out += '\n';
    out += text;
    isOpen = isBlock;
  }
  return out;
}

function segmentToCq(segment: Segment): string {
  if (segment.kind === 'code') return escapeText(segment.text.replace(/\n$/, ''));
  if (segment.kind !== 'mention') return escapeText(plainText([segment]));
  const { user } = segment;
  if (user === 'everyone') return formatCq({ type: 'at', data: { qq: 'all' } });
  return /^\d{1,20}$/.test(user.id) ? formatCq({ type: 'at', data: { qq: user.id } }) : escapeText(`@${user.id}`);
}
