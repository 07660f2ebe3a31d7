// `svc config schema`: the JSON Schema of svc.config.yml, as editors use it.
import { publishedSchema } from '../../../../shared/config/schema/published-schema.ts';
import { configSchema } from '../../../../shared/config/schema/validator.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import type { Command } from '../../command.ts';

export const command: Command = {
  noun: 'config',
  verb: 'schema',
  summary: 'Prints the JSON Schema of svc.config.yml',
  examples: ['svc config schema', 'svc config schema > svc.schema.json'],
  async run({ print }) {
    const schema = publishedSchema(configSchema);
    print.json(schema);
    print.text(JSON.stringify(schema, null, 2));
    return EXIT.ok;
  },
};
