/** Keeps an agent awake until `over` resolves. */
export type Hold = (over: Promise<void>) => void;

/** The LLM calls that an agent has open. Those that began before the agent was awake keep it awake from then on. */
export class LlmCalls {
  readonly #open = new Set<Promise<void>>();
  #hold: Hold | undefined;

  /** Returns the function to call when the call is over. */
  begin(): () => void {
    const over = Promise.withResolvers<void>();
    this.#open.add(over.promise);
    this.#hold?.(over.promise);
    return () => {
      this.#open.delete(over.promise);
      over.resolve();
    };
  }

  /** The agent is awake: `hold` gets every open call now, and each later one when it begins. */
  keepAwake(hold: Hold): void {
    this.#hold = hold;
    for (const over of this.#open) hold(over);
  }

  /** The agent is no longer awake. */
  release(): void {
    this.#hold = undefined;
  }
}
