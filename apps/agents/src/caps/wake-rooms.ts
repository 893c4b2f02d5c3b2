import { LruCache } from '@berth/event-store';
import type { Counted } from './wake-ledger.js';
import { ROOM } from './wake-statements.js';

const END_USERS = 10_000;

interface WakeRoom {
  readonly limit: number;
  readonly last: Counted;
  /** When that was, in Unix milliseconds. */
  readonly at: number;
  /** At least this many wakes fit after `last`. */
  readonly left: number;
}

/**
 * How many more wakes fit for end users who are far from their limit. That remains true until the gate or the log shows a
 * wake that this process did not count: counted ones only leave the window.
 */
export class WakeRooms {
  readonly #rooms = new LruCache<WakeRoom>(END_USERS);

  /** Notes a wake that was counted when at least `ROOM` fitted, this one included. */
  found(endUserId: string, limit: number, last: Counted, now: number): void {
    this.#rooms.set(endUserId, { limit, last, at: now, left: ROOM - 1 });
  }

  /** The wake after which another one fits; undefined if that is not known, or the clock was set back since. */
  lastOf(endUserId: string, limit: number, now: number): Counted | undefined {
    const room = this.#rooms.get(endUserId);
    return room?.limit === limit && room.left > 0 && now >= room.at ? room.last : undefined;
  }

  /** Whether all wakes of the room are counted, so that it has to be decided whether more fit. */
  isUsedUp(endUserId: string, limit: number): boolean {
    const room = this.#rooms.get(endUserId);
    return room?.limit === limit && room.left === 0;
  }

  /** Notes that another wake was counted after the last one. */
  counted(endUserId: string, last: Counted, now: number): void {
    const room = this.#rooms.get(endUserId);
    if (room !== undefined) this.#rooms.set(endUserId, { ...room, last, at: now, left: room.left - 1 });
  }

  forget(endUserId: string): void {
    this.#rooms.delete(endUserId);
  }
}
