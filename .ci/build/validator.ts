// The validator of the configuration, compiled while building: a start loads neither Ajv's compiler nor TypeBox for it.
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';
import { validatorModuleSource } from '../../shared/config/schema/validator-source.ts';

/** Puts the compiled module in the place of shared/config/schema/validator.ts. */
export const compiledValidator: Plugin = {
  name: 'compiled-validator',
  setup(build) {
    build.onLoad({ filter: /shared[\\/]config[\\/]schema[\\/]validator\.ts$/ }, ({ path }) => ({
      contents: (source ??= validatorModuleSource()),
      loader: 'js',
      resolveDir: dirname(path),
    }));
  },
};

let source: string | undefined;
