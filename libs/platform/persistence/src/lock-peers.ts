import { randomUUID } from 'node:crypto';
import type { Notices } from './notices.js';

const TOPIC = 'locks';

/** How often a process says which locks it holds. */
const REPEAT_MS = 500;

/** A process that was silent for so long may have died. */
const SILENT_MS = 1_200;

interface Peer {
  readonly keys: ReadonlySet<string>;
  readonly heardAt: number;
}

/**
 * What the processes of a service tell each other about the locks that they hold. This decides nothing: it only tells a
 * process when an attempt to take a lock is worth a connection.
 */
export class LockPeers {
  readonly #id = randomUUID();
  readonly #peers = new Map<string, Peer>();
  #repeating: NodeJS.Timeout | undefined;

  /** `held`: the keys that this process holds; `freed`: called when another process no longer holds some. */
  constructor(
    private readonly notices: Notices,
    private readonly held: () => readonly string[],
    private readonly freed: () => void,
  ) {
    notices.subscribe(TOPIC, (text) => this.#heard(text));
  }

  /** Call it when `held` has changed. */
  tell(): void {
    this.#publish();
    if (this.held().length === 0) {
      clearInterval(this.#repeating);
      this.#repeating = undefined;
    } else this.#repeating ??= setInterval(() => this.#publish(), REPEAT_MS).unref();
  }

  /** For how long another process may be assumed to hold `key`, in milliseconds; 0 if it may be free. */
  heldFor(key: string): number {
    const heardAt = [...this.#peers.values()].filter(({ keys }) => keys.has(key)).map((peer) => peer.heardAt);
    return Math.max(0, Math.max(...heardAt) + SILENT_MS - performance.now());
  }

  #publish(): void {
    this.notices.publish(TOPIC, [this.#id, ...this.held()].join(' '));
  }

  #heard(text: string | null): void {
    const [id, ...keys] = text?.split(' ') ?? [];
    if (id === undefined || id === this.#id) return;
    const now = performance.now();
    const before = this.#peers.get(id);
    this.#peers.set(id, { keys: new Set(keys), heardAt: now });
    for (const [peer, { heardAt }] of this.#peers) if (heardAt + SILENT_MS < now) this.#peers.delete(peer);
    if ([...(before?.keys ?? [])].some((key) => !keys.includes(key))) this.freed();
  }
}
