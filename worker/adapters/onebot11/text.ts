// Text that goes out: QQ shows no formatting, so marks are dropped, and mentions become CQ codes, which send.ts takes apart again. Pure.

import type { Rich } from '../../sdk/index.ts';
import { plainText, type Segment } from '../../sdk/message.ts';
import { escapeText, formatCq } from './cq-code.ts';

export const toCq = ({ segments }: Rich): string => segments.map(segmentToCq).join('');

function segmentToCq(segment: Segment): string {
  if (segment.kind !== 'mention') return escapeText(plainText([segment]));
  const { user } = segment;
  if (user === 'everyone') return formatCq({ type: 'at', data: { qq: 'all' } });
  return /^\d{1,20}$/.test(user.id) ? formatCq({ type: 'at', data: { qq: user.id } }) : escapeText(`@${user.id}`);
}
