// Metrics of the Workroom, read at each scrape. On a host that is none there is none.
import { Counter, Gauge, type Registry } from 'prom-client';
import { sharedRead } from './shared-read.ts';

export interface WorkroomFigures {
  readonly items: readonly { readonly board: string; readonly state: string; readonly count: number }[];
  /** Items and blockers whose deadline is over, by board. */
  readonly overdue: readonly { readonly board: string; readonly count: number }[];
  /** Age of the oldest open blocker, by board; 0: nothing is blocked. */
  readonly blockedOldest: readonly { readonly board: string; readonly seconds: number }[];
  /** Commands since the start, each outcome. */
  readonly commands: readonly { readonly outcome: string; readonly count: number }[];
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
      const { items = [] } = (await figures(this)) ?? {};
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
      const { overdue = [] } = (await figures(this)) ?? {};
      this.reset();
      for (const { board, count } of overdue) this.set({ board }, count);
    },
  });
  new Gauge({
    name: 'svc_workroom_blocked_oldest_seconds',
    help: 'Age of the oldest open blocker of the board, 0 while nothing is blocked.',
    labelNames: ['board'],
    registers,
    async collect() {
      const { blockedOldest = [] } = (await figures(this)) ?? {};
      this.reset();
      for (const { board, seconds } of blockedOldest) this.set({ board }, seconds);
    },
  });
  new Counter({
    name: 'svc_workroom_commands_total',
    help: 'Commands that were accepted, or refused by their reason, since the start.',
    labelNames: ['outcome'],
    registers,
    async collect() {
      const { commands = [] } = (await figures(this)) ?? {};
      this.reset();
      for (const { outcome, count } of commands) this.inc({ outcome }, count);
    },
  });
  new Gauge({
    name: 'svc_workroom_journal_seq',
    help: 'Number of the last event of the journal.',
    registers,
    async collect() {
      const known = await figures(this);
      if (known === undefined) this.remove();
      else this.set(known.seq);
    },
  });
  new Gauge({
    name: 'svc_workroom_journal_ok',
    help: '0 while the last proof of the journal found a fault.',
    registers,
    async collect() {
      const known = await figures(this);
      if (known?.isSound === undefined) this.remove();
      else this.set(Number(known.isSound));
    },
  });
}
