// Ingress, wired into the host: the state of the gate, with what runs in the engine and what is due.
import type { IngressPreview, IngressStatus } from '../../shared/api/runtime.ts';
import type { Engine } from '../engine/engine.ts';
import type { IngressApi } from '../http/api/ingress-api.ts';
import { readDueTasks, readParked, readWork } from '../ingress/ingress-status.ts';
import type { JobsHost } from './jobs.ts';

const MOST_HANDLERS = 20;

export function createIngressApi(engine: Engine, jobs: Pick<JobsHost, 'previewDue'>): IngressApi {
  const { gate } = engine;
  return {
    state: () => gate.known(),
    set: (caller, change, asked) => gate.set(change, caller.actor, asked),
    status: () => statusOf(engine),
    preview: () => previewOf(engine, jobs),
  };
}

async function statusOf({ core, gate, dispatcher, runtime, context }: Engine): Promise<IngressStatus> {
  const generations = [...(runtime.current === undefined ? [] : [runtime.current]), ...runtime.draining];
  const parked = await gate.parked();
  const work = await readWork(core.reader, {
    parked,
    // A running item counts until its decision is stored, which is later than the end of its handler.
    isRunning: dispatcher.running > 0 || generations.some(({ running }) => running > 0),
    handlers: context.underWay.handlers
      .slice(0, MOST_HANDLERS)
      .map(({ since, ...handler }) => ({ ...handler, since: new Date(since).toISOString() })),
  });
  return { ...gate.known(), ...work };
}

async function previewOf({ core, gate, cron }: Engine, jobs: Pick<JobsHost, 'previewDue'>): Promise<IngressPreview> {
  gate.known();
  const { reader, clock } = core;
  const now = clock.now();
  const [items, tasks] = [await readParked(reader), await readDueTasks(reader, now)];
  return {
    items,
    jobs: await jobs.previewDue(now),
    tasks: tasks.filter(
      ({ kind, handler, oldest }) => kind !== 'cron' || !cron.isSkipped(handler, Date.parse(oldest ?? '')),
    ),
  };
}
