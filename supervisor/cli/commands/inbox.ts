// `svc inbox list|show|replay|hold|drop`.
import type { Command } from '../command.ts';
import { itemCommands } from '../item-commands.ts';

export const commands: Command[] = itemCommands({
  noun: 'inbox',
  states: ['received', 'handling', 'waiting', 'done', 'dead'],
  since: 'receivedAt',
  answers: ['again', 'done'],
  question: 'a step that an earlier attempt may have done',
});
