// What a stop of the engine has cut, for those who ask what waits for the next start.
import type { Cut } from '../shared/api/control.ts';
import type { Engine } from './engine.ts';

export function leftAtWork({ handlers, sends }: Awaited<ReturnType<Engine['stop']>>): readonly Cut[] {
  return [
    { name: 'handlers', count: handlers, reason: `${handlers} did not end: they run again at the next start` },
    { name: 'sends', count: sends, reason: `${sends} did not end: they go out again at the next start` },
  ].filter(({ count }) => count > 0);
}
