// Checks for work that waits for an operator: dead letters, and sends whose outcome nobody knows. Nothing else reports them while the host is ready.
import { resolve } from 'node:path';
import { type Check, type Finding, ok, skip, warn, withConfig } from './check.ts';
import { readDatabase } from './database-checks.ts';

export const DEAD_CHECKS: readonly Check[] = [
  {
    id: 'items.dead',
    title: 'No message is a dead letter',
    run: withConfig(({ config }, { paths }) => dead(resolve(paths.project, config.database.filename))),
  },
];

function dead(filename: string): Finding {
  try {
    const counts = readDatabase(filename, (database) => {
      const count = (query: string): number =>
        Number(database.prepare<[], { n: number }>(`SELECT COUNT(*) AS n FROM ${query}`).get()?.n ?? 0);
      return {
        inbox: count("inbox WHERE state = 'dead'"),
        outbox: count("outbox WHERE state IN ('dead', 'unknown') AND is_dropped = 0"),
      };
    });
    return counts === undefined ? skip('no database yet') : deadFinding(counts);
  } catch {
    return skip('they cannot be counted'); // database.integrity and database.schema say why
  }
}

function deadFinding({ inbox, outbox }: Readonly<Record<'inbox' | 'outbox', number>>): Finding {
  if (inbox + outbox === 0) return ok('none');
  const stores = [...(inbox > 0 ? ['inbox'] : []), ...(outbox > 0 ? ['outbox'] : [])];
  return warn(
    `${inbox} in, ${outbox} out wait for an operator`,
    stores.map((store) => `svc ${store} list --causes`).join('; '),
  );
}
