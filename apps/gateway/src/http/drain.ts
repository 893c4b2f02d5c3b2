/** Tells long answers that the gateway stops. */
export class Drain {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.#controller.abort();
  }
}
