// The commands of `svc jobs`.
import type { Command } from '../../command.ts';
import { add, edit, pauseJob, remove, resume, run } from './change.ts';
import { check, history, list, next, show } from './read.ts';

export const commands: readonly Command[] = [
  list,
  show,
  add,
  edit,
  remove,
  pauseJob,
  resume,
  run,
  history,
  next,
  check,
];
