// Prints a value as YAML with comments on some nodes. A separate file, so that a command can load it lazily.
// A dynamic import of `yaml` itself would lose the named exports, because it is a CommonJS package.
import { Document, isNode } from 'yaml';

export interface YamlComment {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

export function commentedYaml(value: unknown, comments: readonly YamlComment[]): string {
  const document = new Document(value, { version: '1.2' });
  for (const { path, text } of comments) {
    const node: unknown = document.getIn(path, true);
    if (isNode(node)) node.comment = ` ${text}`;
  }
  return document.toString({ lineWidth: 0 }).trimEnd();
}
