// Metrics of the Workroom, read at each scrape. On a host that is none there is none.
import { Gauge, type Registry } from 'prom-client';
import { sharedRead } from './shared-read.ts';

export interface WorkroomFigures {
  readonly items: readonly { readonly board: string; readonly state: string; readonly count: number }[];
  /** Items and blockers whose deadline is over, by board. */
  readonly overdue: readonly { readonly board: string; readonly count: number }[];
  /** Number of the last event. */
  readonly seq: number;
  /** Whether the last proof found no fault. Undefined before the first. */
  readonly isSound: boolean | undefined;
}

/** `read`: undefined on a host that is no Workroom. */
export function workroomMetrics(registry: Registry, read: () => Promise<WorkroomFigures | undefined>): void {
  const registers = [registry];
  const figures = sharedRead(read);
  new Gauge({
    name: 'svc_workroom_items',
    help: 'Items of the board by state.',
    labelNames: ['board', 'state'],
    registers,
    async collect() {
      const { items = [] } = (await figures()) ?? {};
      this.reset();
      for (const { board, state, count } of items) this.set({ board, state }, count);
    },
  });
  new Gauge({
    name: 'svc_workroom_overdue',
    help: 'Items that have not ended and are past a deadline, their own or of a blocker.',
    labelNames: ['board'],
    registers,
    async collect() {
      const { overdue = [] } = (await figures()) ?? {};
      this.reset();
      for (const { board, count } of overdue) this.set({ board }, count);
    },
  });
  new Gauge({
    name: 'svc_workroom_journal_seq',
    help: 'Number of the last event of the journal.',
    registers,
    async collect() {
      const known = await figures();
      if (known === undefined) this.remove();
      else this.set(known.seq);
    },
  });
  new Gauge({
    name: 'svc_workroom_journal_ok',
    help: '0 while the last proof of the journal found a fault.',
    registers,
    async collect() {
      const known = await figures();
      if (known?.isSound === undefined) this.remove();
      else this.set(Number(known.isSound));
    },
  });
}
