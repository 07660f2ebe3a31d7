// Collects the segments that an adapter parses from a text.
import type { Segment } from '../message.ts';
import { BEHIND_NAME, isUnseen } from './unseen-edges.ts';

/** Merges adjacent plain texts and drops empty ones. */
export class SegmentList {
  readonly segments: Segment[] = [];

  say(text: string): void {
    const last = this.segments.at(-1);
    if (text === '') return;
    if (last?.kind === 'text') this.segments[this.segments.length - 1] = { kind: 'text', text: last.text + text };
    else this.segments.push({ kind: 'text', text });
  }

  add(segment: Segment): void {
    this.segments.push(segment);
  }
}

/** Removes a mention of the bot at the beginning, with the sign behind it. */
export function withoutMention(segments: readonly Segment[], bot: string | undefined): readonly Segment[] {
  const at = segments[0]?.kind === 'text' && isUnseen(segments[0].text) ? 1 : 0;
  const [first, second, ...rest] = segments.slice(at);
  if (first?.kind !== 'mention' || first.user === 'everyone' || first.user.id !== bot) return segments;
  if (second?.kind !== 'text') return segments.slice(at + 1);
  const text = second.text.replace(BEHIND_NAME, '');
  return text === '' ? rest : [{ ...second, text }, ...rest];
}
