// Files of the pack for monitoring, as they lie in the repository.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownPackage } from '../../../supervisor/cli/init/own-package.ts';

export const packFile = (name: string): string =>
  readFileSync(join(ownPackage().root, 'deploy/monitoring', name), 'utf8');

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
    readonly datasource: { readonly uid: string };
  }[];
}

export interface Dashboard {
  readonly title: string;
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: string | { readonly query: string };
    }[];
  };
}

export const dashboard = (): Dashboard => JSON.parse(packFile('dashboard.json')) as Dashboard;

/** Expressions of the panels and of the variables. */
export const dashboardQueries = ({ panels, templating }: Dashboard): readonly string[] => [
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query])),
];
