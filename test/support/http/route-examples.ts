// A path for each route of the table, with something in each place that the host in memory knows.
import type { Route } from '../../../worker/http/routes/route.ts';

const VALUES: Readonly<Record<string, string>> = {
  'id+': 'irc~libera',
  id: '1',
  'path+': 'hook/main',
  slot: 'echo',
  'path*': 'closed',
};

export const examplePath = ({ path }: Pick<Route, 'path'>): string =>
  path.replace('/api/jobs/{id}', '/api/jobs/tea').replace(/\{(\w+[+*]?)\}/g, (_, name: string) => VALUES[name] ?? 'x');
