import { detach } from '@berth/kernel';

const CALLS_AT_ONCE = 4;
/** A call removes its containers one after the other; a shim that does not respond delays those after it. */
const MOST_PER_CALL = 8;
/** Calls that do not end, because containerd or shims do not respond, must not make every other agent's stop fail. */
const TURN_WITHIN_MS = 10_000;

/** The removal of a container. */
export interface Removal {
  /** Resolves when its turn has come, after 10 s at the latest. */
  readonly begun: Promise<void>;
  /** Resolves when the container is removed. Rejects with the error of its own removal only. */
  readonly ended: Promise<void>;
}

interface Waiting {
  readonly id: string;
  readonly begun: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
}

/**
 * Removes containers with few calls: a host that shuts down removes all its containers at once, and a call for each of them
 * would take many times as long.
 */
export class ContainerRemoval {
  readonly #waiting: Waiting[] = [];
  readonly #running = new Set<Promise<unknown>>();

  constructor(private readonly removeAll: (ids: readonly string[]) => Promise<unknown>) {}

  /** Resolves when no removal is under way. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  remove(id: string): Removal {
    const waiting = { id, begun: Promise.withResolvers<void>(), ended: Promise.withResolvers<void>() };
    this.#waiting.push(waiting);
    const late = setTimeout(() => waiting.begun.resolve(), TURN_WITHIN_MS).unref();
    detach(waiting.begun.promise.then(() => clearTimeout(late)));
    // Others of the same moment share the call.
    queueMicrotask(() => this.#callNext());
    return { begun: waiting.begun.promise, ended: waiting.ended.promise };
  }

  #callNext(): void {
    if (this.#waiting.length === 0 || this.#running.size >= CALLS_AT_ONCE) return;
    const call = this.#remove(this.#waiting.splice(0, MOST_PER_CALL)).finally(() => {
      this.#running.delete(call);
      this.#callNext();
    });
    this.#running.add(call);
    this.#callNext();
  }

  /** Does not reject. */
  async #remove(batch: readonly Waiting[]): Promise<void> {
    for (const { begun } of batch) begun.resolve();
    const together = await this.removeAll(batch.map(({ id }) => id)).then(
      () => true,
      () => false,
    );
    for (const { id, ended } of batch) {
      if (together) ended.resolve();
      // One failed container must not be another's error.
      else await this.removeAll([id]).then(() => ended.resolve(), ended.reject);
    }
  }
}
