import type { ErrorKind } from '@berth/kernel';

/** Name of the journal of deliveries in an agent's journal folder. */
export const DELIVERIES_FILE = 'deliveries.jsonl';

/** How a message that was handed over ended. */
export type DeliveryOutcome =
  | { readonly type: 'answered'; readonly response: string }
  | { readonly type: 'failed'; readonly kind: ErrorKind; readonly code: string; readonly message: string };

/** One line of the journal. `released`: the program was not there, the message may be handed over later. */
export interface DeliveryRecord {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly step: 'handed' | 'released' | 'ended';
  readonly outcome?: DeliveryOutcome;
}

/**
 * What a guest knows of a message. `absent`: it was never handed over. `open`: it waits for its turn, or was handed
 * over and no outcome is known.
 */
export type DeliveryReport = { readonly state: 'absent' | 'open' } | DeliveryEnd;

type DeliveryEnd = { readonly state: 'ended'; readonly outcome: DeliveryOutcome };

/** Reads one line of the journal; undefined for a torn one. */
export const decodeDelivery = (line: string): DeliveryRecord | undefined => {
  try {
    const record = JSON.parse(line) as DeliveryRecord;
    return typeof record.id === 'string' && typeof record.at === 'number' && typeof record.step === 'string'
      ? record
      : undefined;
  } catch {
    return undefined;
  }
};

/** What a record that is the last one of its message says; undefined when there is none. */
export const toDeliveryReport = (
  last: { readonly outcome?: DeliveryOutcome | undefined } | undefined,
): DeliveryReport => {
  if (last === undefined) return { state: 'absent' };
  return last.outcome === undefined ? { state: 'open' } : { state: 'ended', outcome: last.outcome };
};
