// Collects the segments that an adapter parses from a text.
import type { Segment } from '../message.ts';

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
