import { isDomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import type { Logger } from '@berth/telemetry';
import type { ChangeWatch } from './change-watch.js';
import type { EventStore } from './event-store.js';
import type { Projection } from './projection.js';
import type { ProjectionTable } from './projection-table.js';

const LOOK_AGAIN_MS = 50;
/** Processes that wait must not take the connections that the leader needs. */
const LONGEST_PAUSE_MS = 1_000;
const SILENT_MS = 2_000;
const REPEAT_EVERY_MS = 5_000;
const SEARCH_WITHIN_MS = 4_000;

interface Parts {
  readonly store: EventStore;
  readonly projection: Projection;
  readonly table: ProjectionTable;
  /** Changes of the serving tables; it may miss some. */
  readonly changes: ChangeWatch;
  readonly log: Logger;
}

/**
 * Resolves once the tables serve and contain everything that the log held when the call began, whichever process writes
 * them. Logs its progress every 5 s, waits out outages, and throws only the reason of `signal`.
 */
export const waitUntilCaughtUp = async (parts: Parts, signal: AbortSignal): Promise<void> => {
  const head = (await untilAvailable(() => parts.store.head(), signal)) ?? -1n;
  const progress = new CatchUpProgress(parts, head);
  let before: bigint | null | undefined;
  await untilAvailable(() => parts.table.ensure(), signal);
  for (let pauseMs = LOOK_AGAIN_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const position = await untilAvailable(() => servingPosition(parts, head), signal);
    if (position !== undefined) {
      progress.at(position);
      if ((position ?? -1n) >= head) return;
      // If the tables do not advance, perhaps only events of other projections are left before the head.
      if (
        position === before &&
        !(await untilAvailable(() => isMissingEvents(parts, position, head), signal))
      )
        return;
    }
    before = position;
    await pause(LOOK_AGAIN_MS, signal);
    await parts.changes.changed(pauseMs - LOOK_AGAIN_MS, signal);
  }
};

/**
 * Returns undefined until tables of this version serve, and the head when a newer version serves, which ends the wait.
 */
const servingPosition = async (
  { store, table, projection }: Parts,
  head: bigint,
): Promise<bigint | null | undefined> => {
  const serving = await table.serving();
  if (serving === undefined || serving.version < projection.version) return undefined;
  // Tables that are ahead of the log belong to another log and are about to be built again.
  if ((serving.position ?? -1n) > head && (serving.position ?? -1n) > ((await store.head()) ?? -1n))
    return undefined;
  return serving.version > projection.version ? head : serving.position;
};

/** Whether the log has an event for the projection after `position` and up to `head`. */
const isMissingEvents = async (
  { store, projection }: Parts,
  position: bigint | null,
  head: bigint,
): Promise<boolean> => {
  const stop = new AbortController();
  const timeout = AbortSignal.timeout(SEARCH_WITHIN_MS);
  const signal = AbortSignal.any([stop.signal, timeout]);
  try {
    const items = store.subscribe({ from: position ?? 'start', categories: projection.categories, signal });
    for await (const item of items) {
      if (item.kind === 'event') return item.event.position <= head;
      if (item.kind === 'caughtUp' || item.position >= head) return false;
    }
    return true;
  } finally {
    stop.abort();
  }
};

/** Logs the progress of a long catch-up. */
class CatchUpProgress {
  readonly #began = performance.now();
  #loggedAt = this.#began + SILENT_MS - REPEAT_EVERY_MS;
  #first: bigint | undefined;

  constructor(
    private readonly parts: Parts,
    private readonly head: bigint,
  ) {}

  at(position: bigint | null): void {
    const reached = position ?? 0n;
    this.#first ??= reached;
    const now = performance.now();
    if (reached >= this.head || now - this.#loggedAt < REPEAT_EVERY_MS) return;
    this.#loggedAt = now;
    const { projection, log } = this.parts;
    const perSecond = Number(reached - this.#first) / ((now - this.#began) / 1_000);
    const percent = Math.floor((Number(reached) / Number(this.head)) * 100);
    const secondsLeft = perSecond > 0 ? Math.ceil(Number(this.head - reached) / perSecond) : null;
    log.warn(
      { projection: projection.name, percent, secondsLeft },
      `Not ready yet: ${projection.name} has read ${percent} % of the event log`,
    );
  }
}

const untilAvailable = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isDomainError(error, 'unavailable')) throw error;
      await pause(LOOK_AGAIN_MS * 5, signal);
    }
  }
};
