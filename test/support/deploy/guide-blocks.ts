// The `sh` blocks of a page of the operator's guide, each with its name: a test runs them as they stand.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GUIDE = fileURLToPath(new URL('../../../deploy/guide/', import.meta.url));
const BLOCK = /^```sh ?(?<name>\S*)\n(?<text>[\s\S]*?)^```$/gmu;

export interface GuideBlock {
  readonly name: string;
  readonly text: string;
}

/** In the order of the page. */
export const guideBlocks = (page: string): readonly GuideBlock[] =>
  [...readFileSync(join(GUIDE, page), 'utf8').matchAll(BLOCK)].map(({ groups }) => ({
    name: groups?.['name'] ?? '',
    text: groups?.['text'] ?? '',
  }));

/** The commands of one block, a line each. */
export function guideLines(page: string, name: string): readonly string[] {
  const block = guideBlocks(page).find((one) => one.name === name);
  assert.ok(block, `${page} has a block ${name}`);
  return block.text.trimEnd().split('\n');
}
