/** A host that is silent for this long counts as lost. Hosts announce themselves every 10 s. */
export const LOST_AFTER_SECONDS = 30;

/** When a host last announced itself, ISO 8601; null if it never did. */
export interface SeenHost {
  readonly host: string;
  readonly seenAt: string | null;
}

const LOST_AFTER_MS = LOST_AFTER_SECONDS * 1_000;
/** After a longer time without hearing anything, hosts have announced themselves in vain. They announce every 10 s. */
const DEAF_AFTER_MS = 5_000;

interface Silence {
  readonly seenAt: string | null;
  /** When this announcement was first known here, on the monotonic clock. */
  readonly since: number;
}

/**
 * How long hosts have been silent, counted only while this process hears what they announce. Once it hears again, every
 * host has its full time.
 */
export class HostSilence {
  #hosts: ReadonlyMap<string, Silence> = new Map();
  #heardAt = Number.NEGATIVE_INFINITY;

  /** Returns the lost ones. Call it about every second, but only when announcements can be heard. */
  observe(hosts: readonly SeenHost[]): readonly string[] {
    const now = performance.now();
    const before: ReadonlyMap<string, Silence> =
      now - this.#heardAt > DEAF_AFTER_MS ? new Map() : this.#hosts;
    this.#heardAt = now;
    this.#hosts = new Map(
      hosts.map(({ host, seenAt }) => {
        const known = before.get(host);
        return [host, known?.seenAt === seenAt ? known : { seenAt, since: now }];
      }),
    );
    return [...this.#hosts].filter(([, { since }]) => now - since >= LOST_AFTER_MS).map(([host]) => host);
  }
}
