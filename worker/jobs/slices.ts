// Bounds how long one turn of the event loop computes due times. After each slice other work has its turn.
const SLICE = 40;

export class Slices {
  #left = SLICE;
  #turn: Promise<void> | undefined;

  /** `cost`: in due times that are computed. */
  async take(cost = 1): Promise<void> {
    while (this.#left <= 0) {
      this.#turn ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        this.#left = SLICE;
        this.#turn = undefined;
      });
      await this.#turn;
    }
    this.#left -= cost;
  }
}
