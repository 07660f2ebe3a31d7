// When each life of the host ends: a random moment after its start, or a moment after a platform was told that something is received, or
// was sent an answer. The platforms take turns, so that none is spared.
import type { Random } from '../../crash/kit/random.ts';
import type { Platform } from './platform.ts';

export type Kill =
  | { readonly kind: 'starting'; readonly delayMs: number }
  | {
      readonly kind: 'acknowledged' | 'answered';
      readonly platform: string;
      /** The n-th of this life. */
      readonly pass: number;
      readonly delayMs: number;
    };

const START_MS = 500;
const ACKNOWLEDGED_MS = 40;
const ANSWERED_MS = 6;
const MOST_PASSES = 4;

export function planKills(total: number, platforms: readonly Platform[], random: Random): readonly Kill[] {
  return Array.from({ length: total }, (_, index): Kill => {
    const { name: platform, isReadLate } = platforms[index % platforms.length] ?? {};
    if (platform === undefined || random.chance(0.15))
      return { kind: 'starting', delayMs: random.between(0, START_MS) };
    const pass = random.between(1, MOST_PASSES);
    return isReadLate === true || random.chance(0.5)
      ? { kind: 'acknowledged', platform, pass, delayMs: random.between(0, ACKNOWLEDGED_MS) }
      : { kind: 'answered', platform, pass, delayMs: random.between(0, ANSWERED_MS) };
  });
}
