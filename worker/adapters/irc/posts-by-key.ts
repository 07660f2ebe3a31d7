// Writes each post of a connection once for its idempotency key. A retry may come while the lines wait for the flood limit, or soon after they went
// out.
// The host retries only without a result in time. Posts that were not sent are written again.
import type { SendResult } from '../../sdk/index.ts';

/** The host retries within minutes. */
const KEPT_MS = 10 * 60_000;
const MOST_KEPT = 256;

export class PostsByKey {
  readonly #now: () => number;
  readonly #underWay = new Map<string, Promise<SendResult>>();
  /** Results and times of sent posts, oldest first. */
  readonly #sent = new Map<string, { readonly result: SendResult; readonly at: number }>();

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  once(key: string, post: () => Promise<SendResult>): Promise<SendResult> {
    this.#forget();
    const sent = this.#sent.get(key);
    if (sent !== undefined) return Promise.resolve(sent.result);
    const begun = this.#underWay.get(key);
    if (begun !== undefined) return begun;
    const made = this.#make(key, post).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, made);
    return made;
  }

  async #make(key: string, post: () => Promise<SendResult>): Promise<SendResult> {
    const result = await post();
    if (result.kind === 'sent') this.#sent.set(key, { result, at: this.#now() });
    return result;
  }

  #forget(): void {
    for (const [key, { at }] of this.#sent) {
      if (this.#sent.size <= MOST_KEPT && this.#now() - at < KEPT_MS) return;
      this.#sent.delete(key);
    }
  }
}
