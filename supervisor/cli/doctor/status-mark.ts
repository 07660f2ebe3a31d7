// Formats the status of a check for people.
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

/** `1 error, 2 warnings, 13 ok, 0 skipped`. */
export const countsText = ({ error, warn, ok, skip }: Readonly<Record<CheckStatus, number>>): string =>
  `${counted(error, 'error')}, ${counted(warn, 'warning')}, ${ok} ok, ${skip} skipped`;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
