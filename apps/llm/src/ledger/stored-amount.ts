import type { Millionths } from '@berth/kernel';

/** Millionths of a cent as an event and a snapshot hold them: decimal digits. */
export type StoredAmount = string;

export const store = (amount: Millionths): StoredAmount => String(amount);

export const load = (amount: StoredAmount): Millionths => BigInt(amount);

/** The sum of a stored amount and another. */
export const plus = (stored: StoredAmount, amount: Millionths): StoredAmount => store(load(stored) + amount);
