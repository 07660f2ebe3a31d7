// How the status of a check is shown to people.
import type { Printer } from '../command.ts';
import type { CheckStatus } from './check.ts';

/** Five characters wide. */
export function statusMark({ color }: Printer, status: CheckStatus): string {
  switch (status) {
    case 'ok':
      return color.good('ok   ');
    case 'warn':
      return color.warn('warn ');
    case 'error':
      return color.bad('error');
    case 'skip':
      return color.dim('skip ');
  }
}
