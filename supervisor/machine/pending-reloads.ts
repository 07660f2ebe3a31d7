// Reload requests that the worker has not answered yet.
import type { ReloadResult } from '../../shared/api/control.ts';
import type { WorkerMessage } from '../../shared/api/ipc.ts';
import { SvcError } from '../../shared/svc-error.ts';

type Reloaded = Extract<WorkerMessage, { type: 'reloaded' }>;

const RELOAD_MS = 30_000;

/** Error codes that pass unchanged, because each has its own exit code or advice. Other codes become `reload_refused`. */
const TOLD = ['restart_required', 'config_invalid', 'secret_invalid'] as const;

export class PendingReloads {
  readonly #waiting = new Map<number, (message: Pick<Reloaded, 'ok' | 'generation' | 'warnings' | 'error'>) => void>();
  #lastId = 0;

  /**
   * Sends the request with `send`, which returns false without a worker, and waits. Throws `not_running`, `timeout`, `reload_refused` or a code of
   * `TOLD`.
   */
  ask(send: (id: number) => boolean): Promise<ReloadResult> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      if (!send(id))
        return reject(
          new SvcError('not_running', 'there is no worker that could reload', { hint: 'svc runtime status says why' }),
        );
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new SvcError('timeout', 'the worker has not answered the reload'));
      }, RELOAD_MS);
      this.#waiting.set(id, ({ ok, generation, warnings, error }) => {
        clearTimeout(timer);
        if (ok) resolve({ generation, warnings });
        else
          reject(
            new SvcError(
              TOLD.find((code) => code === error?.code) ?? 'reload_refused',
              error?.message ?? 'the reload was refused',
              error?.hint === undefined ? {} : { hint: error.hint },
            ),
          );
      });
    });
  }

  answered(message: Reloaded): void {
    const settle = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    settle?.(message);
  }

  /** Rejects all waiting requests. */
  workerEnded(): void {
    const error = { code: 'reload_refused', message: 'the worker ended before it had reloaded' };
    for (const settle of this.#waiting.values()) settle({ ok: false, generation: null, error });
    this.#waiting.clear();
  }
}
