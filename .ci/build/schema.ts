// dist/config-schema.json: the schema of svc.config.yml as editors and other programs read it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Output, ROOT } from './output.ts';

const SOURCE = 'shared/config/schema.ts';

export async function buildSchema(output: Output): Promise<void> {
  if (!existsSync(join(ROOT, SOURCE))) return console.log(`skipped: ${SOURCE} (no such file yet)`);
  const module: Readonly<Record<string, unknown>> = await import('../../shared/config/schema.ts' as string);
  const schema = module['publishedSchema'] ?? module['configSchema'] ?? module['ConfigSchema'] ?? module['CONFIG_SCHEMA'];
  if (schema === undefined) throw new Error(`${SOURCE} exports no schema`);
  output.write('config-schema.json', `${JSON.stringify(schema, null, 2)}\n`);
}
