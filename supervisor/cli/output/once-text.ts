// The report of `runtime start --once` for a person at a terminal. The whole of it is the JSON.
import type { Printer } from '../command.ts';
import type { OnceReport } from '../start/worker-entry.ts';

type OnceFault = OnceReport['faults'][number];

/** Without the faults, which the command prints with their remedies. */
export function onceText(report: OnceReport, color: Printer['color']): readonly string[] {
  const { ok, generation, project, faults, warnings, production } = report;
  const assembled = generation !== null;
  const head = ok
    ? color.good(`${project ?? 'the project'} would start: everything was assembled`)
    : color.bad(assembled ? `assembled, with ${counted(faults.length, 'fault')}` : 'not assembled');
  return [
    head,
    ...factsOf(report).map(([name, text]) => `${name.padEnd(12)}${text}`),
    ...warnings.map((warning) => color.warn(`warning: ${warning}`)),
    ...(production.length === 0 ? [] : ['what would not hold in production:']),
    ...production.map((fault) => color.warn(`  ${faultText(fault)}`)),
    color.dim('the whole report: --json'),
  ];
}

/** One line, named by its component unless the message begins with that. */
export function faultText({ component, message, hint }: OnceFault): string {
  const isNamed = component === '' || message.startsWith(`${component}: `); // a fault of the whole file, without a key
  const line = isNamed ? message : `${component}: ${message}`;
  return hint === undefined ? line : `${line}; ${hint}`;
}

function factsOf(report: OnceReport): readonly (readonly [string, string])[] {
  const { plugins, capabilities, endpoints, jobs, resources, readiness } = report;
  const slots = plugins.map((plugin) => (plugin as { readonly slot: string }).slot);
  const kinds = [...new Set(capabilities.map(({ kind }) => kind))];
  const database = databaseText(report.database);
  return [
    ...listed('plugins', [slots.join(', ')]),
    ...listed('with', [
      kinds.map((kind) => counted(capabilities.filter((one) => one.kind === kind).length, kind)).join(', '),
    ]),
    ...listed(
      'accounts',
      endpoints.map(({ id, adapter, enabled }) => `${id} (${adapter}${enabled ? '' : ', disabled'})`),
    ),
    ...listed(
      'jobs',
      jobs.map(
        ({ id, at, timezone, next }) => `${id} at ${at} (${timezone}), ${next === null ? 'never' : `next ${next}`}`,
      ),
    ),
    ...listed('resources', resources),
    ...listed('database', database === undefined ? [] : [database]),
    ...listed(
      'requires',
      readiness
        .filter(({ component }) => component !== 'database')
        .map(({ component, met, reason }) => `${component}: ${met ? 'met' : reason}`),
    ),
  ];
}

/** The name stands at the first line alone. Empty texts are left out. */
const listed = (name: string, texts: readonly string[]): (readonly [string, string])[] =>
  texts.filter((text) => text !== '').map((text, index) => [index === 0 ? name : '', text]);

function databaseText(database: OnceReport['database']): string | undefined {
  if (database === null) return undefined;
  const { file, state, pending = [], reason } = database;
  switch (state) {
    case 'absent':
      return `${file} is not there yet: a start makes it`;
    case 'current':
      return `${file} is of this version`;
    case 'behind':
      return `${file}: a start migrates it (${counted(pending.length, 'step')})`;
    case 'refused':
      return `${file}: ${reason ?? 'a start refuses it'}`;
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
