import { createHash, randomBytes } from 'node:crypto';
import type { OpenTransfer } from '@berth/contracts/runtime';

/** A permitted transfer. Call `release` when it is over or will not happen. */
export interface HeldTransfer extends OpenTransfer {
  readonly release: () => void;
}

const TICKET_BYTES = 32;
const LIFETIME_MS = 10_000;

/** Stores tickets that are not redeemed yet, by their hashes only. */
export class TransferTickets {
  readonly #held = new Map<string, { readonly transfer: HeldTransfer; readonly timer: NodeJS.Timeout }>();

  constructor(private readonly lifetimeMs: number = LIFETIME_MS) {}

  mint(transfer: HeldTransfer): string {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const hash = hashOf(ticket);
    const timer = setTimeout(() => this.#take(hash)?.release(), this.lifetimeMs);
    timer.unref();
    this.#held.set(hash, { transfer, timer });
    return ticket;
  }

  /** The transfer that the ticket permits; works once. */
  redeem(ticket: string): HeldTransfer | undefined {
    return this.#take(hashOf(ticket));
  }

  close(): void {
    for (const hash of [...this.#held.keys()]) this.#take(hash)?.release();
  }

  #take(hash: string): HeldTransfer | undefined {
    const held = this.#held.get(hash);
    clearTimeout(held?.timer);
    this.#held.delete(hash);
    return held?.transfer;
  }
}

const hashOf = (ticket: string): string => createHash('sha256').update(ticket).digest('base64');
