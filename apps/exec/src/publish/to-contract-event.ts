import { execEvents, type ExecutionEndedEvent, type ExecutionSubmittedEvent } from '@berth/contracts/exec';
import type { RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent } from '@berth/kernel';
import { executionCodec } from '../execution/execution.events.js';

/** Returns the public form of a stored event; null if the event is private. */
export const toContractEvent = (
  recorded: RecordedEvent,
): ContractEvent<ExecutionSubmittedEvent | ExecutionEndedEvent> | null => {
  const event = executionCodec.fromStored(recorded);
  const { accountId } = recorded.metadata;
  const { executionId, agentId, at } = event.data;
  const named = { executionId, agentId, accountId };
  const about = { accountId, subjectId: executionId };
  if (event.type === 'ExecutionSubmitted') {
    return contractEvent(execEvents.submitted, about, { ...named, detached: event.data.detached, at });
  }
  if (event.type === 'ExecutionEnded') {
    const { status, startedAt } = event.data;
    const durationMs = startedAt === null ? 0 : Math.max(0, Date.parse(at) - Date.parse(startedAt));
    return contractEvent(execEvents.ended, about, { ...named, status, durationMs, at });
  }
  return null;
};
