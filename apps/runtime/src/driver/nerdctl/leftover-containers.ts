import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import type { ListedContainer } from './container-list.js';

/** The dependencies that find and remove containers. */
export interface LeftoverHost {
  /** All containers of this installation. Rejects while containerd does not respond. */
  list(): Promise<readonly ListedContainer[]>;
  /** Whether the driver knows this container, or is about to. */
  isKnown(container: ListedContainer): boolean;
  remove(container: ListedContainer): Promise<void>;
  /** Removes the files of containers that are not among those. Returns whether it could. */
  forgetAllBut(containers: readonly ListedContainer[]): Promise<boolean>;
}

const LOOK_EVERY_MS = 2_000;
/** containerd carries out what it was asked before it hung, after it responds again. */
const CLEAN_LOOKS = 3;

/**
 * Removes the containers that a failed call to nerdctl has left: one that was ended after it had created a container, or
 * before it had removed one. Looks for them only after such a call, until several looks in a row have found none.
 */
export class LeftoverContainers {
  #looks = 0;

  constructor(
    private readonly host: LeftoverHost,
    private readonly log: Logger,
    private readonly lookEveryMs = LOOK_EVERY_MS,
  ) {}

  /** A call has failed that may have left a container. */
  suspect(): void {
    this.#looks = CLEAN_LOOKS;
  }

  /** Until the signal aborts. Does not throw. */
  async keepUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.lookEveryMs, signal);
      if (this.#looks === 0 || signal.aborted) continue;
      try {
        this.#looks = (await this.#look()) ? this.#looks - 1 : CLEAN_LOOKS;
      } catch (error) {
        this.log.warn({ err: error }, 'containers that a failed call has left could not be removed yet');
      }
    }
  }

  /** Returns whether there were none. */
  async #look(): Promise<boolean> {
    const listed = await this.host.list();
    const left = listed.filter((container) => !this.host.isKnown(container));
    for (const container of left) {
      this.log.warn({ agentId: container.agentId }, 'removing a container that a failed call has left');
      await this.host.remove(container);
    }
    return left.length === 0 && this.host.forgetAllBut(listed);
  }
}
