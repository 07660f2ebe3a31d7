// The configuration of a test bot: plugin keys as plain values, secrets as plain texts, defaults for everything else.
import type { LoadedConfig } from '../../shared/config/load.ts';
import { readDefinition, readPlugin } from '../sdk/definition.ts';
import type { PluginModule } from '../sdk/plugin.ts';

type Loose = Readonly<Record<string, unknown>>;

export interface TestPlugins {
  readonly modules: Readonly<Record<string, PluginModule>>;
  /** Keys of the plugins, by slot. */
  readonly config: Readonly<Record<string, Loose>>;
  /** Users who may run operators' commands; read at each command. */
  readonly operators: readonly { readonly endpoint: string; readonly user: string }[];
}

/** The parts of a configuration that assembly reads. Every secret counts as written by reference, as a real configuration requires. */
export function testConfig({ modules, config, operators }: TestPlugins): LoadedConfig {
  const slots = Object.keys(modules);
  const secrets = slots.flatMap((slot) =>
    secretPaths(propertiesOf(modules[slot]), config[slot] ?? {}, `/plugins/${slot}`),
  );
  const known = {
    config: {
      host: { kind: 'bot', name: 'test', language: 'en' },
      plugins: Object.fromEntries(slots.map((slot) => [slot, { ...config[slot], enabled: true }])),
      http: { publicUrl: 'https://bot.example', base: '' },
      files: { days: 30, maxFileBytes: 67_108_864, linkHours: 168 },
      commands: { prefix: '/', operators },
      schedule: { timezone: 'UTC' },
      inbox: {
        maxAttempts: 5,
        quarantineSeconds: 0,
        maxPending: 1_000_000,
        maxPendingBytes: 1_000_000_000,
        concurrency: 64,
        endpointConcurrency: 64,
      },
      outbox: { maxAttempts: 8, onUnknown: 'resend' },
    },
    mode: 'test',
    references: new Map(secrets.map((path) => [path, { text: '${SECRET}', whole: true, names: ['SECRET'] }])),
    secretKeys: new Set(secrets),
    unset: new Map<string, string>(),
    secrets: [],
    warnings: [],
    version: 'sha256:test',
    environment: {},
    origin: () => undefined,
    source: () => 'file',
    position: () => undefined,
    file: 'the configuration of the test',
  };
  return known as unknown as LoadedConfig; // assembly reads only these members
}

function propertiesOf(module: PluginModule | undefined): Loose {
  return readDefinition(module).kind === 'plugin' ? (readPlugin(module).config ?? {}) : {};
}

function secretPaths(properties: Loose, value: Loose, path: string): readonly string[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const { format, properties: inner } = schema as { readonly format?: string; readonly properties?: Loose };
    if (format === 'svc-secret') return [`${path}/${key}`];
    return inner === undefined ? [] : secretPaths(inner, (value[key] ?? {}) as Loose, `${path}/${key}`);
  });
}
