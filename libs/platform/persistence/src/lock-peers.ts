import type { Notices } from './notices.js';

const TOPIC = 'locks';

/** How often a process announces which locks it holds. */
const REPEAT_MS = 500;

/** A holder that was silent for this long may have died. */
const SILENT_MS = 1_200;

const HELD = 'held';
const RELEASED = 'released';

/**
 * Announces the locks that this process holds to the other processes of the service, and records what they announce.
 * PostgreSQL alone decides who holds a lock; announcements only show when an attempt to take one is worth a connection.
 * A lock that is lost with its connection is not announced as released: until the silence is noticed, its former holder
 * has time to stop.
 */
export class LockPeers {
  readonly #heardAt = new Map<string, number>();
  #repeating: NodeJS.Timeout | undefined;

  /** `held`: the keys that this process holds; `onReleased`: called when a process has released a lock. */
  constructor(
    private readonly notices: Notices,
    private readonly held: () => readonly string[],
    onReleased: () => void,
  ) {
    notices.subscribe(TOPIC, (text) => {
      const [what, ...keys] = text?.split(' ') ?? [];
      if (what === HELD) for (const key of keys) this.#heardAt.set(key, performance.now());
      if (what !== RELEASED) return;
      for (const key of keys) this.#heardAt.delete(key);
      onReleased();
    });
  }

  /** Call it when `held` has more keys than before. */
  announceHeld(): void {
    this.#repeating ??= setInterval(() => this.#repeat(), REPEAT_MS).unref();
    this.#repeat();
  }

  announceReleased(key: string): void {
    this.notices.publish(TOPIC, `${RELEASED} ${key}`);
  }

  /** For how long a process may be assumed to hold `key`, in milliseconds; 0 if it may be free. */
  heldFor(key: string): number {
    return Math.max(0, (this.#heardAt.get(key) ?? -Infinity) + SILENT_MS - performance.now());
  }

  #repeat(): void {
    const keys = this.held();
    if (keys.length > 0) this.notices.publish(TOPIC, [HELD, ...keys].join(' '));
    else {
      clearInterval(this.#repeating);
      this.#repeating = undefined;
    }
  }
}
