// `svc doctor`.
import type { Command } from '../command.ts';

export const command: Command = {
  noun: 'doctor',
  summary: 'Checks project, machine and state; or asks a live host with --live',
  examples: ['svc doctor'],
  run: () => Promise.resolve(1),
};
