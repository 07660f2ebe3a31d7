// dist/config-schema.json and dist/schedule-jobs-schema.json: the schemas of svc.config.yml and of the jobs file, as editors read them.
import { publishedSchemaText } from '../../shared/config/schema/validator-source.ts';
import { jobsSchema } from '../../shared/jobs/jobs-schema.ts';
import type { Output } from './output.ts';

export function buildSchema(output: Output): void {
  output.write('config-schema.json', publishedSchemaText());
  output.write('schedule-jobs-schema.json', `${JSON.stringify(jobsSchema, null, 2)}\n`);
}
