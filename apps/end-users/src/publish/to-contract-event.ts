import type { RecordedEvent } from '@berth/event-store';
import type { ContractEvent } from '@berth/kernel';
import { toEndUserContractEvent } from '../end-user/end-user.events.js';
import { toTokenContractEvent, tokenCodec } from '../token/token.events.js';

/** Returns the public form of a stored event; null when the event is private. */
export const toContractEvent = (recorded: RecordedEvent): ContractEvent | null =>
  recorded.stream.startsWith(`${tokenCodec.category}-`)
    ? toTokenContractEvent(recorded)
    : toEndUserContractEvent(recorded);
