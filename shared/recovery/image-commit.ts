// The commit of an image, which has no git: its build noted it.
import type { Environment } from '../config/environment.ts';

export function imageCommit({ PROJECT_COMMIT: id = '' }: Environment): { id: string; dirty: boolean } | undefined {
  return /^[0-9a-f]{40,64}$/.test(id) ? { id, dirty: false } : undefined;
}
