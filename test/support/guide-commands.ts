// The commands that a page of the operator's guide names: lines `$ svc …` of its blocks, and code spans that begin with `svc `, in the order of the page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GUIDE = fileURLToPath(new URL('../../deploy/guide/', import.meta.url));

export interface GuideCommand {
  /** `recover.md:12`. */
  readonly place: string;
  readonly text: string;
  /** What the page says: `# exit 1` behind a line of a block; 0 where it says nothing. */
  readonly exit: number;
}

const LINE = /^\$ ((?:svc|node) .*?)(?:\s+# exit (\d+))?$/u;
const SPAN = /`(svc [a-z][^`]*)`/gu;

/** A line of a block each time it stands there; a span once a page, unless a block before it has it. */
export function guideCommands(page: string): readonly GuideCommand[] {
  const found: GuideCommand[] = [];
  let isBlock = false;
  for (const [index, line] of readFileSync(join(GUIDE, page), 'utf8').split('\n').entries()) {
    if (line.startsWith('```')) isBlock = !isBlock;
    const place = `${page}:${index + 1}`;
    const isKnown = (one: string): boolean => found.some(({ text, exit }) => text === one && exit === 0);
    if (isBlock) found.push(...lineOf(line).map((one) => ({ place, ...one })));
    else found.push(...spansOf(line).flatMap((text) => (isKnown(text) ? [] : [{ place, text, exit: 0 }])));
  }
  return found;
}

function lineOf(line: string): readonly { readonly text: string; readonly exit: number }[] {
  const [, text, exit = '0'] = LINE.exec(line) ?? [];
  return text === undefined ? [] : [{ text, exit: Number(exit) }];
}

const spansOf = (line: string): readonly string[] => [
  ...new Set([...line.matchAll(SPAN)].map(([, text = '']) => text)),
];

/** Words as a shell reads them: `"two words"` is one. */
export const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/gu)].map(([, quoted, plain]) => quoted ?? plain ?? '');
