// Somebody who answers at the control socket of a project, in this process: what `status` says is the test's, and may change.
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { CONTROL_SOCKET } from '../../../shared/files/paths.ts';
import type { Cleanup } from '../temporary-project.ts';

export interface ControlStandIn {
  /** How often it was asked. */
  readonly asked: () => number;
  /** What it says from now on. */
  say(status: Partial<RuntimeStatus>): void;
  /** Nobody answers any more. */
  end(): Promise<void>;
}

const NOTHING_KNOWN = { pid: null, address: null, socket: null, reason: null, budget: null };

/** A supervisor in a state in which the real one is for a moment only, or only after a bad hour. */
export const controlStandIn = (t: Cleanup, project: string, first: Partial<RuntimeStatus>): Promise<ControlStandIn> =>
  standInAt(t, join(project, CONTROL_SOCKET), first);

/** The same at another socket of the project. */
export async function standInAt(t: Cleanup, path: string, first: Partial<RuntimeStatus>): Promise<ControlStandIn> {
  mkdirSync(dirname(path), { recursive: true });
  chmodSync(dirname(path), 0o700);
  const said = { status: first, count: 0 };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      said.count += 1;
      const known = { owner: 'daemon', ready: false, reasons: [], exits: [], notes: [], supervisorPid: process.pid };
      const result = { ...known, ...NOTHING_KNOWN, ...said.status };
      socket.write(`${JSON.stringify({ id: 1, protocol: 1, capabilities: [], ok: true, result })}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const end = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  t.after(end);
  return {
    asked: () => said.count,
    say: (status) => {
      said.status = status;
    },
    end,
  };
}
