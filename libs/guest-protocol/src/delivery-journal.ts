import type { ErrorKind } from '@berth/kernel';

/** Name of the journal of deliveries in an agent's journal folder. */
export const DELIVERIES_FILE = 'deliveries.jsonl';

/** The outcome of a message that was handed to the program. */
export type DeliveryOutcome =
  | { readonly type: 'answered'; readonly response: string }
  | { readonly type: 'failed'; readonly kind: ErrorKind; readonly code: string; readonly message: string };

/** One line of the journal. `released`: the program was not reachable, so the message may be handed over later. */
export interface DeliveryRecord {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly step: 'handed' | 'released' | 'ended';
  readonly outcome?: DeliveryOutcome;
}

/** The state of a message. `absent`: never handed over. `open`: queued, or handed over with no known outcome. */
export type DeliveryReport = { readonly state: 'absent' | 'open' } | DeliveryEnd;

type DeliveryEnd = { readonly state: 'ended'; readonly outcome: DeliveryOutcome };

/** Parses one line of the journal; undefined if the line is torn. */
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

/** Converts the last journal record of a message, undefined if there is none, to a report. */
export const toDeliveryReport = (
  last: { readonly outcome?: DeliveryOutcome | undefined } | undefined,
): DeliveryReport => {
  if (last === undefined) return { state: 'absent' };
  return last.outcome === undefined ? { state: 'open' } : { state: 'ended', outcome: last.outcome };
};
