// The order in which handlers are asked about a message: `before` listeners, claiming handlers, then `normal` and `after` listeners. The
// last two are asked only if no handler claimed it. Within each, the order is that of slots in the configuration, then of registration.
// Pure.
import type { Capabilities, Capability } from '../../handling/plan/capabilities.ts';

export interface Asked {
  readonly asked: 'before' | 'claims' | 'normal' | 'after';
  /** Kind of arrival: message, edited, reaction, … */
  readonly about: string;
  readonly capability: string;
}

export function askedOrder(capabilities: Capabilities): readonly Asked[] {
  const listeners = capabilities.ofKind('on');
  const at = (asked: 'before' | 'normal' | 'after'): Asked[] =>
    listeners
      .filter(({ spec }) => (spec.order ?? 'normal') === asked)
      .map(({ id, spec }) => ({ asked, about: spec.on, capability: id }));
  const claiming = capabilities.all().flatMap((one): Asked[] => {
    const about = claimedBy(one);
    return about === undefined ? [] : [{ asked: 'claims', about, capability: one.id }];
  });
  return [...at('before'), ...claiming, ...at('normal'), ...at('after')];
}

function claimedBy({ kind }: Capability): string | undefined {
  if (kind === 'action') return 'pressed';
  return kind === 'command' || kind === 'dialog' ? 'message' : undefined;
}
