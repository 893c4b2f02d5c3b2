import type { OpenedTransfer } from '@berth/contracts/hosting';
import { agentUnavailable, TicketLost } from '../http/transfer-refusal.js';

/** Maximum number of tickets per transfer. */
const ATTEMPTS = 3;

/** Opens a transfer. `refusedEpoch`: the epoch of the last ticket, if the host rejected it as stale. */
export type Open<Opened extends OpenedTransfer = OpenedTransfer> = (
  refusedEpoch: number | null,
) => Promise<Opened>;

/**
 * Calls `use` with a ticket. If the host rejects the ticket and `rewind` succeeds, calls it again with a new one: three
 * times at most.
 */
export const withFreshTicket = async <Opened extends OpenedTransfer, Result>(
  open: Open<Opened>,
  use: (opened: Opened) => Promise<Result>,
  rewind: () => boolean = () => true,
): Promise<Result> => {
  let refusedEpoch: number | null = null;
  for (let attempt = 1; ; attempt++) {
    const opened = await open(refusedEpoch);
    try {
      return await use(opened);
    } catch (error) {
      if (!(error instanceof TicketLost)) throw error;
      if (attempt === ATTEMPTS || !rewind()) throw agentUnavailable(error);
      if (error.reason === 'stale_epoch') refusedEpoch = opened.epoch;
    }
  }
};
