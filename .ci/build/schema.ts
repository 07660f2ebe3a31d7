// dist/config-schema.json: the schema of svc.config.yml as editors and other programs read it.
import { publishedSchemaText } from '../../shared/config/schema/validator-source.ts';
import type { Output } from './output.ts';

export function buildSchema(output: Output): void {
  output.write('config-schema.json', publishedSchemaText());
}
