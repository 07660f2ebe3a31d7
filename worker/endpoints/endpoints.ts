// All accounts of the host. A new generation replaces the list: unchanged accounts keep their connection, the others are stopped and started. An
// account that an operator disabled stays disabled over restarts and reloads.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { EndpointRunner, type EndpointRunnerDeps, type EndpointSpec } from './endpoint-runner.ts';

export interface EndpointOverride {
  readonly enabled: boolean | undefined;
  readonly revision: number;
}

/** Refuses a change that was decided on another revision. */
export const REVISION_GUARD = 'endpoint revision';

export class Endpoints {
  readonly #deps: EndpointRunnerDeps;
  readonly #core: Core;
  readonly #runners = new Map<string, EndpointRunner>();
  /** An index, because every delivery looks an account up. */
  #byAccount: ReadonlyMap<string, readonly EndpointRunner[]> = new Map();
  readonly #overrides = new Map<string, EndpointOverride>();

  constructor(deps: EndpointRunnerDeps) {
    this.#deps = deps;
    this.#core = deps.core;
  }

  /** Reads which accounts operators have enabled or disabled. */
  async load(): Promise<void> {
    const rows = await this.#core.reader.all(sql.selectFrom('endpoints').select(['endpoint', 'enabled', 'revision']));
    for (const row of rows)
      this.#overrides.set(row.endpoint, {
        enabled: row.enabled === null ? undefined : row.enabled === 1,
        revision: row.revision,
      });
  }

  /** Applies the accounts of a committed generation. Resolves when removed accounts have ended; new ones connect in the background. */
  async apply(specs: readonly EndpointSpec[]): Promise<void> {
    const wanted = new Map(specs.map((spec) => [spec.id, spec]));
    const leaving = [...this.#runners.values()].filter(({ spec }) => !isSame(spec, wanted.get(spec.id)));
    for (const { spec } of leaving) this.#runners.delete(spec.id);
    const ended = new Map(leaving.map((runner) => [runner.spec.id, runner.stop()]));
    for (const spec of specs) {
      if (this.#runners.has(spec.id)) continue;
      // A replaced account connects after its former connection has ended, because platforms allow one at a time.
      const runner = new EndpointRunner(spec, this.#deps, ended.get(spec.id));
      this.#runners.set(spec.id, runner);
      if (this.isEnabled(spec)) runner.enable();
    }
    this.#byAccount = byAccount(this.#runners.values());
    for (const runner of this.#runners.values()) void runner.announce(); // accounts that kept their connection
    await Promise.all(ended.values());
  }

  isEnabled(spec: EndpointSpec): boolean {
    return this.#overrides.get(spec.id)?.enabled ?? spec.enabled;
  }

  /** Number of accounts, disabled ones included. */
  get size(): number {
    return this.#runners.size;
  }

  /** Number of enabled accounts. */
  get enabled(): number {
    let count = 0;
    for (const { spec } of this.#runners.values()) if (this.isEnabled(spec)) count += 1;
    return count;
  }

  override(id: string): EndpointOverride {
    return this.#overrides.get(id) ?? { enabled: undefined, revision: 0 };
  }

  /** The statement that stores an operator's decision. Call `applied` after its commit. */
  enableStatement(id: string, enabled: boolean, revision: number): Statement {
    const values = { enabled: enabled ? 1 : 0, revision: revision + 1 };
    return statement(
      sql
        .insertInto('endpoints')
        .values({ endpoint: id, ...values })
        .onConflict((conflict) =>
          conflict.column('endpoint').doUpdateSet(values).where('endpoints.revision', '=', revision),
        ),
      { expect: 1, guard: REVISION_GUARD },
    );
  }

  applied(id: string, enabled: boolean, revision: number): void {
    this.#overrides.set(id, { enabled, revision: revision + 1 });
    const runner = this.#runners.get(id);
    if (enabled) runner?.enable();
    else runner?.disable();
  }

  /** Throws `endpoint_unavailable` if there is no such account. */
  require(id: string): EndpointRunner {
    const runner = this.#runners.get(id);
    if (runner === undefined) throw new SvcError('endpoint_unavailable', `there is no endpoint ${id}`);
    return runner;
  }

  get(id: string): EndpointRunner | undefined {
    return this.#runners.get(id);
  }

  /** Runners of this account of a slot: one, unless the slot's plugin has several adapters. */
  ofAccount(slot: string, account: string | undefined): readonly EndpointRunner[] {
    return this.#byAccount.get(accountKey(slot, account)) ?? [];
  }

  all(): readonly EndpointRunner[] {
    return [...this.#runners.values()];
  }

  async stop(): Promise<void> {
    await Promise.all(this.all().map((runner) => runner.stop()));
  }
}

/** Equal settings on the same adapter object. An adapter that was loaded again (in development) is a different object. */
const isSame = (spec: EndpointSpec, wanted: EndpointSpec | undefined): boolean =>
  wanted?.fingerprint === spec.fingerprint && wanted.adapter === spec.adapter;

export async function readCursor(core: Core, endpoint: string): Promise<string | undefined> {
  const row = await core.reader.first(sql.selectFrom('endpoints').select('cursor').where('endpoint', '=', endpoint));
  return row?.cursor ?? undefined;
}

const accountKey = (slot: string, account: string | undefined): string => `${slot}/${account ?? ''}`;

function byAccount(runners: Iterable<EndpointRunner>): ReadonlyMap<string, readonly EndpointRunner[]> {
  const found = new Map<string, EndpointRunner[]>();
  for (const runner of runners) {
    const key = accountKey(runner.spec.slot, runner.spec.account);
    found.set(key, [...(found.get(key) ?? []), runner]);
  }
  return found;
}
