// `uses` of a plugin: optional parts of the host. Parts of later versions are listed too, so that a test may supply its own.

import { nearest } from '../../../shared/config/nearest.ts';
import type { Config } from '../../../shared/config/schema/schema.ts';
import { ownerOf } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';

const PARTS = ['workroom', 'agents', 'commands'];

/** The optional parts that a host of this configuration has. */
export const partNamesOf = ({ host }: Pick<Config, 'host'>): readonly string[] =>
  host.kind === 'workroom' ? ['commands', 'workroom'] : ['commands'];

/** Throws with plugin and part if this host does not have the part. */
export function refuseMissingParts(slot: string, uses: unknown, present: readonly string[]): void {
  const details = { plugin: slot };
  if (uses !== undefined && !Array.isArray(uses))
    throw new SvcError('definition_invalid', `${ownerOf(slot)}: uses has to be a list: uses: ['commands']`, {
      details,
    });
  for (const part of (uses ?? []).map(String)) {
    if (present.includes(part)) continue;
    if (!PARTS.includes(part)) {
      const near = nearest(part, PARTS);
      const remedy = near === undefined ? `known are ${PARTS.join(', ')}` : `did you mean ${near}?`;
      throw new SvcError('definition_invalid', `${ownerOf(slot)} uses ${part}, which no host has: ${remedy}`, {
        details,
      });
    }
    throw new SvcError('plugin_failed', `${ownerOf(slot)} uses ${part}, which this host does not have configured`, {
      details,
      hint:
        part === 'workroom'
          ? 'set host.kind: workroom; a test gives its own, testBot(plugin, { parts: { workroom } })'
          : `this version of svc has no ${part}: take it out of \`uses\`; a test may give its own, testBot(plugin, { parts: { ${part} } })`,
    });
  }
}
