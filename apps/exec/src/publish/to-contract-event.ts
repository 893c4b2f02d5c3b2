import type { ExecEventName, ExecutionEndedEvent, ExecutionSubmittedEvent } from '@berth/contracts/exec';
import type { RecordedEvent } from '@berth/event-store';
import { executionCodec } from '../execution/execution.events.js';

/** The public form of a stored event; null if the event is private. */
export const toContractEvent = (
  recorded: RecordedEvent,
): { subject: string; payload: ExecutionSubmittedEvent | ExecutionEndedEvent } | null => {
  const event = executionCodec.fromStored(recorded);
  const { accountId } = recorded.metadata;
  const { executionId, agentId, at } = event.data;
  const named = { executionId, agentId, accountId };
  const subject = (name: ExecEventName): string => `evt.exec.${name}.v1.${accountId}.${executionId}`;
  if (event.type === 'ExecutionSubmitted') {
    return { subject: subject('submitted'), payload: { ...named, detached: event.data.detached, at } };
  }
  if (event.type === 'ExecutionEnded') {
    const { status, startedAt } = event.data;
    const durationMs = startedAt === null ? 0 : Math.max(0, Date.parse(at) - Date.parse(startedAt));
    return { subject: subject('ended'), payload: { ...named, status, durationMs, at } };
  }
  return null;
};
