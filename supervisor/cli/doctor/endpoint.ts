// `svc doctor --endpoint <name>`: asks an account's adapter for the account's state at its platform. Read-only, and no host needs to run.
// Besides --edge and --live this is the only part of doctor that uses a network.
import type { CheckedAccount } from '../../../shared/api/account-check.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { shown } from '../output/printable.ts';
import { unknownWord } from '../output/usage-error.ts';
import { loadTasks } from '../start/worker-entry.ts';
import type { CheckStatus } from './check.ts';
import { countsText, statusMark } from './status-mark.ts';

export interface EndpointOptions {
  readonly endpoint: string;
  /** Warnings count as errors. */
  readonly strict: boolean;
  /** Limit for each account in ms. */
  readonly limitMs: number;
}

/** 0 if every account is well, 1 if not. Throws `usage` for an unknown name, and errors of the configuration. */
export async function checkEndpoint(
  context: CommandContext,
  { endpoint, strict, limitMs }: EndpointOptions,
): Promise<ExitCode> {
  const { env, print } = context;
  const tasks = await loadTasks(context);
  const found = await tasks.checkEndpoint({
    project: context.project(),
    mode: 'production',
    environment: env,
    endpoint,
    limitMs,
  });
  if (found.kind === 'unknown') throw unknownWord('endpoint', endpoint, found.names);
  if (found.kind === 'no accounts')
    throw new SvcError('usage', `${shown(endpoint)} is a plugin: it has no account to check`, {
      hint: 'svc endpoints list',
    });
  const counts: Record<CheckStatus, number> = { ok: 0, warn: 0, error: 0, skip: 0 };
  const endpoints: object[] = [];
  for await (const account of found.accounts) {
    for (const { status } of account.checks) counts[status] += 1;
    endpoints.push({ ...account, ok: isWell(account, strict) });
    tell(print, account);
  }
  const ok = counts.error === 0 && (!strict || counts.warn === 0);
  print.json({ ok, strict, counts, endpoints });
  print.text(countsText(counts));
  return ok ? EXIT.ok : EXIT.failed;
}

const isWell = ({ checks }: CheckedAccount, strict: boolean): boolean =>
  !checks.some(({ status }) => status === 'error' || (strict && status === 'warn'));

function tell(print: CommandContext['print'], { name, adapter, enabled, checks }: CheckedAccount): void {
  const width = Math.max(...checks.map((check) => check.name.length));
  print.text(print.color.bold(`${shown(name)} (${shown(adapter)}${enabled ? '' : ', disabled'})`));
  for (const { name: check, status, detail, remedy } of checks) {
    print.text(`${statusMark(print, status)} ${shown(check).padEnd(width)}  ${shown(detail)}`);
    if (remedy !== undefined) print.text(`      ${print.color.dim(`→ ${shown(remedy)}`)}`);
  }
}
