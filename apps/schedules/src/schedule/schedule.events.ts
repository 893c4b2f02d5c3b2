import { schedulesEvents } from '@berth/contracts/schedules';
import type { EventCodec, RecordedEvent } from '@berth/event-store';
import { contractEvent, type ContractEvent } from '@berth/kernel';
import type { ScheduleEvent } from './schedule.js';

const TYPES: ReadonlySet<string> = new Set<ScheduleEvent['type']>([
  'SchedulesPublished',
  'ScheduleFired',
  'PromptHandedOver',
  'FiringEnded',
  'SchedulesForgotten',
]);

/** Codec of the streams `schedule-agt_…`. */
export const scheduleCodec: EventCodec<ScheduleEvent> = {
  category: 'schedule',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (!TYPES.has(type)) throw new Error(`No event of schedules has the type ${type}.`);
    return { type, ...data } as unknown as ScheduleEvent;
  },
};

/** Returns the public part of an event; null when the event is private. */
export const toContractEvent = (recorded: RecordedEvent): ContractEvent | null => {
  const event = scheduleCodec.fromStored(recorded);
  const { agentId, accountId, at } = event;
  if (event.type === 'FiringEnded' || event.type === 'PromptHandedOver') return null;
  const nextWakeAt = event.type === 'SchedulesForgotten' ? null : event.nextWakeAt;
  const payload = { agentId, accountId, nextWakeAt, at };
  return contractEvent(schedulesEvents.nextWakeChanged, { accountId, subjectId: agentId }, payload);
};
