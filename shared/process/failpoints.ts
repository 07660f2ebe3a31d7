// Named places at which the crash kit ends or disturbs the process. `FAILPOINTS` is a constant of the build: false in the
// production bundle, so that every `if (FAILPOINTS) …` and every name in it is gone there (a test reads the bundle).
//
// SVC_FAILPOINTS is a list like `stored=kill@3,writer.sync=error@2`: what happens at which pass of which point.

declare global {
  /** Replaced by the bundler; true where the sources run as they are. */
  var FAILPOINTS: boolean;
}
// The one assignment at import time: without a bundler somebody has to define the constant.
(globalThis as { FAILPOINTS?: boolean }).FAILPOINTS ??= true;

/** Called at a named place; may never come back. */
export type Failpoint = (name: string) => void | Promise<void>;

export const noFailpoint: Failpoint = () => {};

interface Rule {
  readonly action: 'kill' | 'error';
  pass: number;
}

/** Failpoints as the environment of a test process asks for them. */
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
