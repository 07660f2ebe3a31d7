// `svc outbox list|show|replay|hold|drop`.
import type { Command } from '../command.ts';
import { itemCommands } from '../item-commands.ts';

export const commands: Command[] = itemCommands({
  noun: 'outbox',
  states: ['pending', 'sending', 'sent', 'waiting', 'unknown', 'dead'],
  since: 'createdAt',
  answers: ['again', 'done'],
  question: 'a send whose end is unknown',
});
