// Packages of some hundred modules, each joined into one of what is used of them before it comes into a bundle: in a program that loads
// parts of itself later, each module is a function with its own exports, and nothing of a package falls away.
import { build as bundle, type Plugin } from 'esbuild';
import { ROOT } from './output.ts';

/** What the sources use; any other name fails the build. */
const USED: Readonly<Record<string, readonly string[]>> = {
  typebox: [
    'Array',
    'Boolean',
    'Enum',
    'Integer',
    'Literal',
    'Null',
    'Object',
    'Optional',
    'Record',
    'String',
    'Union',
    'Unknown',
    'Unsafe',
  ],
  kysely: ['DummyDriver', 'Kysely', 'SqliteAdapter', 'SqliteIntrospector', 'SqliteQueryCompiler', 'sql'],
};

const texts = new Map<string, Promise<string>>();

export const joined: Plugin = {
  name: 'joined',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(USED).join('|')})$`) }, ({ path }) => ({
      path,
      namespace: 'joined',
    }));
    build.onLoad({ filter: /.*/, namespace: 'joined' }, async ({ path }) => {
      const known = texts.get(path) ?? join(path);
      texts.set(path, known);
      return { contents: await known, loader: 'js' };
    });
  },
};

async function join(name: string): Promise<string> {
  const { outputFiles } = await bundle({
    stdin: { contents: `export { ${USED[name]?.join(', ') ?? ''} } from '${name}';`, resolveDir: ROOT },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    write: false,
    plugins: [withoutSideEffects],
  });
  return outputFiles[0]?.text ?? '';
}

/** They only define; not every package says so. */
const withoutSideEffects: Plugin = {
  name: 'without-side-effects',
  setup(build) {
    build.onResolve({ filter: /.*/ }, async ({ path, pluginData, ...args }) => {
      if (pluginData === 'seen') return undefined;
      const found = await build.resolve(path, { ...args, pluginData: 'seen' });
      return { ...found, sideEffects: false };
    });
  },
};
