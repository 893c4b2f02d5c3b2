/** What must be undone, in the opposite order of how it came about. Every step is tried, the first failure thrown. */
export class CleanUp {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Does `work`; when that fails, undoes what it had added. */
export const undoneOnFailure = async <Result>(
  work: (cleanUp: CleanUp) => Promise<Result>,
): Promise<Result> => {
  const cleanUp = new CleanUp();
  try {
    return await work(cleanUp);
  } catch (error) {
    // Why it failed says more than what could not be undone after it.
    await cleanUp.run().catch(() => undefined);
    throw error;
  }
};
