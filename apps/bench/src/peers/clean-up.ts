/** Clean-up steps, run in reverse order. Every step runs; the first failure is thrown. */
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

/** Runs `work`; if it fails, undoes the steps that it had added. */
export const undoneOnFailure = async <Result>(
  work: (cleanUp: CleanUp) => Promise<Result>,
): Promise<Result> => {
  const cleanUp = new CleanUp();
  try {
    return await work(cleanUp);
  } catch (error) {
    // The original failure matters more than a failure to undo.
    await cleanUp.run().catch(() => undefined);
    throw error;
  }
};
