import { LruCache } from '@berth/event-store';
import { ROOM } from './wake-statements.js';

const END_USERS = 10_000;

interface WakeRoom {
  readonly revision: bigint;
  readonly limit: number;
  /** At least this many wakes fit. */
  readonly left: number;
}

/**
 * How many more wakes fit for end users who are far from their limit, by the revision of their gate. That remains true
 * while the revision is the same: wakes only leave the window.
 */
export class WakeRooms {
  readonly #rooms = new LruCache<WakeRoom>(END_USERS);

  /** Notes that a wake was counted, with which the gate got this revision, when at least `ROOM` wakes fitted. */
  found(endUserId: string, limit: number, revision: bigint): void {
    this.#rooms.set(endUserId, { limit, revision, left: ROOM - 1 });
  }

  /** The revision at which another wake fits; undefined if that is not known. */
  revisionFor(endUserId: string, limit: number): bigint | undefined {
    const room = this.#rooms.get(endUserId);
    return room?.limit === limit && room.left > 0 ? room.revision : undefined;
  }

  /** Notes that a wake was counted at the revision of the room. */
  counted(endUserId: string): void {
    const room = this.#rooms.get(endUserId);
    if (room === undefined) return;
    this.#rooms.set(endUserId, { ...room, revision: room.revision + 1n, left: room.left - 1 });
  }

  forget(endUserId: string): void {
    this.#rooms.delete(endUserId);
  }
}
