import type { Policy } from '@berth/contracts/schema';
import { LruCache } from '@berth/event-store';
import type { Wake } from '../agent/act.js';

/** Between the check of a message and its wake are a look-up and one write. */
const VALID_MS = 2_000;
const MAX_REMEMBERED = 10_000;

interface Checked {
  readonly policy: Policy | null;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Remembers for a moment by which policy an attempt of a command checked its wake. The wake takes it, once. */
export class CheckedWakes {
  readonly #checked = new LruCache<Checked>(MAX_REMEMBERED);

  put(wake: Wake, policy: Policy | null, now: number): void {
    const key = keyOf(wake);
    if (key !== undefined) this.#checked.set(key, { policy, at: now });
  }

  /** Undefined if the wake was not checked. */
  take(wake: Wake, now: number): Policy | null | undefined {
    const key = keyOf(wake);
    const checked = key === undefined ? undefined : this.#checked.get(key);
    if (key === undefined || checked === undefined) return undefined;
    this.#checked.delete(key);
    return Math.abs(now - checked.at) < VALID_MS ? checked.policy : undefined;
  }
}

const keyOf = ({ attempt, agentId, epoch }: Wake): string | undefined =>
  attempt === undefined ? undefined : `${attempt} ${agentId} ${epoch}`;
