// Prometheus and Alertmanager of Debian, on loopback ports, gone with the test.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { debianServer } from '../accounts/debian-server.ts';
import { freePort } from '../free-port.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

const PROGRAMS = ['promtool', 'prometheus', 'amtool', 'prometheus-alertmanager'];
const REMEDY = 'apt-get install -y --no-install-recommends prometheus prometheus-alertmanager';

/** Why tests with these programs cannot run here, or false. Throws where they have to run. */
export function monitoringMissing(): string | false {
  const missing = PROGRAMS.filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined);
  if (missing.length === 0) return false;
  const reason = `${missing.join(', ')} missing: ${REMEDY}`;
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_PROMETHEUS'] === '1') throw new Error(`SVC_REQUIRE_PROMETHEUS=1, but ${reason}`);
  return reason;
}

const emptyFolder = (): string => mkdtempSync(join(tmpdir(), 'svc-monitoring-'));

export interface SentAlert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export async function startAlertmanager(t: Cleanup, config: object) {
  const folder = emptyFolder();
  const port = await freePort();
  writeFileSync(join(folder, 'alertmanager.yml'), stringify(config));
  await debianServer(t, {
    name: 'prometheus-alertmanager',
    args: [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    ports: [port],
    folder,
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    /** Alerts that it knows, with what mutes them. */
    async alerts(): Promise<
      readonly (Omit<SentAlert, 'status'> & { readonly status: { readonly inhibitedBy: readonly string[] } })[]
    > {
      return (await (await fetch(`${url}/api/v2/alerts`)).json()) as never;
    },
  };
}

export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** `config` names files relative to `files`, which are written beside it. */
export async function startPrometheus(
  t: Cleanup,
  { config, files }: { readonly config: object; readonly files: Readonly<Record<string, string>> },
) {
  const folder = emptyFolder();
  const port = await freePort();
  for (const [name, text] of Object.entries({ ...files, 'prometheus.yml': stringify(config) }))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  await debianServer(t, {
    name: 'prometheus',
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    ports: [port],
    folder,
  });
  const query = async (expression: string): Promise<readonly QueryResult[]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query: expression })}`);
    const { status, error, data } = (await answer.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data?: { readonly result: readonly QueryResult[] };
    };
    if (status !== 'success') throw new Error(`${expression}: ${error}`);
    return data?.result ?? [];
  };
  return {
    query,
    /** Waits until the expression selects something. */
    sees: (expression: string): Promise<readonly QueryResult[]> =>
      until(async () => [await query(expression)].find(({ length }) => length > 0), {
        what: `Prometheus to see ${expression}`,
        everyMs: 200,
      }),
  };
}
