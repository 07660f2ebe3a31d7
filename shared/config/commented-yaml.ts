// YAML of a value, with a comment behind some of its nodes. Apart from the command that prints it: a package that is not an ES module
// keeps its names only where it is imported outright.
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
