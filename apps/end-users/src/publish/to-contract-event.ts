import type { RecordedEvent } from '@berth/event-store';
import type { ContractEvent } from '@berth/kernel';
import { defaultsCodec, toDefaultsContractEvent } from '../defaults/defaults.events.js';
import { toEndUserContractEvent } from '../end-user/end-user.events.js';
import { toTokenContractEvent, tokenCodec } from '../token/token.events.js';

/** Returns the public form of a stored event; null when the event is private. */
export const toContractEvent = (recorded: RecordedEvent): ContractEvent | null => {
  if (recorded.stream.startsWith(`${tokenCodec.category}-`)) return toTokenContractEvent(recorded);
  if (recorded.stream.startsWith(`${defaultsCodec.category}-`)) return toDefaultsContractEvent(recorded);
  return toEndUserContractEvent(recorded);
};
