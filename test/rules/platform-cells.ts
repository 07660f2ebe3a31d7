// What fills the table of platforms and clauses (platform-clauses.ts): each cell has tests, or a reason why there are none.
import { CLAUSES } from './platform-clauses.ts';
import type { Requirement } from './requirements.ts';

export const ADAPTERS = [
  'telegram',
  'slack',
  'discord',
  'github',
  'line',
  'onebot11',
  'xmpp',
  'irc',
  'sandbox',
  'webhook',
] as const;
export type Adapter = (typeof ADAPTERS)[number];

type Tests = Requirement['tests'];
/** Why the platform has nothing of it. */
export interface Without {
  readonly without: string;
}
export type ByPlatform = Readonly<Record<Adapter, Tests | Without> & { readonly host?: Tests }>;

export interface Clause {
  readonly name: string;
  readonly platforms: ByPlatform;
}

interface Cell {
  readonly clause: string;
  readonly platform: string;
  readonly tests?: Tests;
  readonly without?: string;
}

const cells = CLAUSES.flatMap(({ name, platforms }): readonly Cell[] =>
  Object.entries(platforms).map(([platform, cell]) => ({
    clause: name,
    platform,
    ...('without' in cell ? cell : { tests: cell }),
  })),
);

export const PLATFORM_CLAUSES: readonly Requirement[] = cells.flatMap(({ clause, platform, tests }) =>
  tests === undefined ? [] : [{ id: `platforms: ${clause}: ${platform}`, tests }],
);
/** What a platform has nothing of, and why. */
export const WITHOUT_CLAUSE = cells.flatMap(({ clause, platform, without }) =>
  without === undefined ? [] : [{ clause, platform, without }],
);
