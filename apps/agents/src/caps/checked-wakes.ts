import type { Policy } from '@berth/contracts/schema';
import { LruCache } from '@berth/event-store';
import type { Wake } from '../agent/act.js';

/** Between the check of a message and its wake are a look-up and one write. */
const VALID_MS = 2_000;
const MAX_REMEMBERED = 10_000;

interface Checked {
  readonly policy: Policy | null;
  /** Whether the wake may begin without another count. Never rejects. */
  readonly isAdmitted: Promise<boolean>;
}

interface Remembered extends Checked {
  /** Unix milliseconds. */
  readonly at: number;
}

/** Remembers for a moment what an attempt of a command found out about its wake. The wake takes it, once. */
export class CheckedWakes {
  readonly #checked = new LruCache<Remembered>(MAX_REMEMBERED);

  put(wake: Wake, checked: Checked, now: number): void {
    const key = keyOf(wake);
    if (key !== undefined) this.#checked.set(key, { ...checked, at: now });
  }

  /** Undefined if the wake was not checked. */
  take(wake: Wake, now: number): Checked | undefined {
    const key = keyOf(wake);
    const checked = key === undefined ? undefined : this.#checked.get(key);
    if (key === undefined || checked === undefined) return undefined;
    this.#checked.delete(key);
    return Math.abs(now - checked.at) < VALID_MS ? checked : undefined;
  }
}

const keyOf = ({ attempt, agentId, epoch }: Wake): string | undefined =>
  attempt === undefined ? undefined : `${attempt} ${agentId} ${epoch}`;
