import type { ProjectionRunner } from '@berth/event-store';

/** The projections of a service by name. */
export class ProjectionRunners {
  readonly #byName = new Map<string, ProjectionRunner>();

  add(name: string, runner: ProjectionRunner): ProjectionRunner {
    if (this.#byName.has(name)) throw new Error(`There are two projections with the name ${name}.`);
    this.#byName.set(name, runner);
    return runner;
  }

  get(name: string): ProjectionRunner | undefined {
    return this.#byName.get(name);
  }

  entries(): readonly (readonly [name: string, runner: ProjectionRunner])[] {
    return [...this.#byName];
  }
}
