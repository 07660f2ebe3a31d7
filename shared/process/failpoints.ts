// Named points at which crash tests kill or disturb the process. `FAILPOINTS` is a build constant, false in production.
// The bundler then removes every `if (FAILPOINTS) …` with its names.
//
// SVC_FAILPOINTS is a list like `stored=kill@3,writer.sync=error@2`: point, action, and the pass on which the action happens.

declare global {
  /** Replaced by the bundler. True if the sources run unbundled. */
  var FAILPOINTS: boolean;
}
// The only assignment at import time: without a bundler the constant must be defined at run time.
(globalThis as { FAILPOINTS?: boolean }).FAILPOINTS ??= true;

/** Called at a named point. May never return. */
export type Failpoint = (name: string) => void | Promise<void>;

export const noFailpoint: Failpoint = () => {};

interface Rule {
  readonly action: 'kill' | 'error';
  pass: number;
}

/** Failpoints requested by the environment of a test process. */
export function failpointsOf(text: string | undefined): Failpoint {
  if (text === undefined || text === '') return noFailpoint;
  const rules = new Map(text.split(',').map((entry) => parseRule(entry)));
  return (name) => {
    const rule = rules.get(name);
    if (rule === undefined) return;
    rule.pass -= 1;
    if (rule.pass !== 0) return;
    if (rule.action === 'error') throw Object.assign(new Error(`injected at ${name}`), { code: 'SQLITE_IOERR_FSYNC' });
    process.kill(process.pid, 'SIGKILL');
  };
}

function parseRule(entry: string): [string, Rule] {
  const [, name, action, pass] = /^([^=]+)=(kill|error)(?:@(\d+))?$/.exec(entry) ?? [];
  if (name === undefined) throw new Error(`SVC_FAILPOINTS: "${entry}" is neither name=kill@n nor name=error@n`);
  return [name, { action: action as Rule['action'], pass: Number(pass ?? 1) }];
}
