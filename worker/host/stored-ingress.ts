// Ingress for an operator while the host is stopped: its state is read and changed in the database, so that the next start begins with it.
//
//   STORED-INGRESS-1  The writer lock is held for each call. A host that is up decides alone what begins, so beside it nothing is read or changed.

import type { IngressChange, IngressPreview, IngressState, IngressStatus } from '../../shared/api/runtime.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { IngressGate } from '../ingress/ingress-gate.ts';
import { readDueTasks, readParked, readWork } from '../ingress/ingress-status.ts';
import { previewDue, readGoodSet } from '../jobs/due-plan.ts';
import { findStored, type StoredPlace, type StoredPlaceOptions, writingAlone } from './stored-place.ts';

const ACTOR = 'offline';

/** Each call opens the file and closes it. Throws `already_running` if a worker holds the writer lock. */
export interface StoredIngress {
  readonly file: string;
  status(): Promise<IngressStatus>;
  set(change: IngressChange): Promise<IngressState>;
  /** Throws `config_invalid`: due times of jobs need the time zone of the configuration. */
  preview(): Promise<IngressPreview>;
}

/** Undefined if there is no database. Throws if this version of svc cannot read it. */
export function openStoredIngress(options: StoredPlaceOptions): StoredIngress | undefined {
  const place = findStored(options);
  if (place === undefined) return undefined;
  return {
    file: place.file,
    set: (change) => alone(place, async (core) => (await gateOver(core)).set(change, ACTOR)),
    status: () =>
      alone(place, async (core) => {
        const gate = await gateOver(core);
        const works = { parked: await gate.parked(), isRunning: false, handlers: [] };
        return { ...gate.known(), ...(await readWork(core.reader, works)) };
      }),
    preview: () => {
      const { config } = loadConfig({ ...options, mode: 'development', servesNothing: true });
      return alone(place, (core) => previewOf(core, config.schedule.timezone));
    },
  };
}

async function gateOver(core: Core): Promise<IngressGate> {
  const gate = new IngressGate(core, { changed: () => {}, due: () => {}, running: () => 0 });
  await gate.load();
  return gate;
}

async function previewOf({ reader, clock }: Core, zone: string): Promise<IngressPreview> {
  const now = clock.now();
  return {
    items: await readParked(reader),
    jobs: await previewDue(reader, await readGoodSet(reader, { zone, now }), now),
    tasks: await readDueTasks(reader, now),
  };
}

async function alone<T>(place: StoredPlace, ask: (core: Core) => Promise<T>): Promise<T> {
  try {
    return await writingAlone(place, ask);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'already_running') throw error;
    throw new SvcError('already_running', 'the host is up and does not answer: nothing was read or changed', {
      cause: error,
      hint: '`svc runtime stop` ends it, and loses nothing that was acknowledged; then run the command again',
      details: error.details,
    });
  }
}
