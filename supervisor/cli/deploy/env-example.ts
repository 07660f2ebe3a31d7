// `.env.example`: each variable that the configuration names, without a value. Pure.
import { readReferences } from '../../../shared/config/references.ts';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';

const HEAD = '# Copy to .env (chmod 600) and fill in. Lines are NAME=value without quotes, blanks, # or $.';

/** A variable with a default stands as a comment with that default. */
export function envExample(configuration: unknown): string {
  const variables = new Map<string, string>();
  for (const text of textsOf(configuration)) {
    const read = readReferences(text);
    if (read.kind !== 'template') continue;
    for (const part of read.parts)
      if (typeof part === 'object' && !variables.has(part.name))
        variables.set(part.name, part.fallback === undefined ? `${part.name}=` : `# ${part.name}=${part.fallback}`);
  }
  return [HEAD, ...variables.values(), ''].join('\n');
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  if (Array.isArray(value)) for (const inner of value) yield* textsOf(inner);
  if (isRecord(value)) for (const inner of Object.values(value)) yield* textsOf(inner);
}
