// What a spare worker does while it waits for its turn: everything of a start that touches no store, no port and no state, so that
// what is left then is little. Nothing here is kept; it is in memory afterwards, and compiled.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type LoadOptions, loadConfig } from '../shared/config/load.ts';
import { BUILT_INS } from './runtime/built-ins.ts';

export async function preload(options: LoadOptions, loadApp: () => Promise<unknown>): Promise<void> {
  await Promise.all([loadApp(), ...Object.values(BUILT_INS).map((load) => load())]);
  try {
    loadConfig(options);
  } catch {
    // Without the secrets that come later it may be invalid, and it may be mended until then
  }
  collectGarbage();
}

/** What loading has left over would be collected in the middle of the start. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc === 'function') gc();
}
