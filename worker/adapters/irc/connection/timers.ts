// Timers of one connection: all of them end with it.

export class Timers {
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  after(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
