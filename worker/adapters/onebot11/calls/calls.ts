// Calls over a WebSocket. Each has an id (`echo`), which its answer repeats.
//
//   ONEBOT11-CALLS-1  A sent call without an answer throws, at the time limit or when the socket closes. The call's outcome is unknown.
//   ONEBOT11-CALLS-2  A call that could not be sent throws `endpoint_unavailable`. The call had no effect.
import { SvcError } from '../../../../shared/svc-error.ts';
import { type Json, textAt } from '../../../sdk/platform/foreign-json.ts';
import { type Answer, readAnswer } from './answer.ts';
import type { Channel } from './channel.ts';

interface Open {
  readonly channel: Channel;
  readonly action: string;
  resolve(answer: Answer): void;
  reject(error: Error): void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Calls {
  readonly #open = new Map<string, Open>();
  #count = 0;

  make(
    channel: Channel | undefined,
    action: string,
    { params, limitMs }: { readonly params: object; readonly limitMs: number },
  ) {
    if (channel === undefined) throw new SvcError('endpoint_unavailable', 'the implementation is not connected');
    this.#count += 1;
    const echo = `svc-${this.#count}`;
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => this.#drop(echo, `no answer within ${limitMs} ms`), limitMs);
      this.#open.set(echo, { channel, action, resolve, reject, timer });
      channel.send(JSON.stringify({ action, params, echo }));
    });
  }

  /** False if the frame answers no open call. */
  answer(frame: Json): boolean {
    const echo = textAt(frame, 'echo') ?? '';
    const call = this.#open.get(echo);
    if (call === undefined) return false;
    this.#open.delete(echo);
    clearTimeout(call.timer);
    try {
      call.resolve(readAnswer(call.action, frame));
    } catch (error) {
      call.reject(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  }

  /** Rejects the open calls of a closed socket. The outcome of these calls is unknown. */
  lost(channel: Channel, reason: string): void {
    for (const [echo, call] of this.#open) if (call.channel === channel) this.#drop(echo, reason);
  }

  #drop(echo: string, reason: string): void {
    const call = this.#open.get(echo);
    this.#open.delete(echo);
    clearTimeout(call?.timer);
    call?.reject(new Error(`${call.action}: ${reason}`));
  }
}
