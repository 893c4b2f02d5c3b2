import type { AuditAction } from '@berth/contracts/audit';
import type { EventData, RecordedEvent } from '@berth/event-store';
import { pick, text } from './details.js';
import { isStep, type AuditedAct, type Reading } from './reading.js';

/** The details of an act on a computer are counts: neither texts nor paths. */
const ofComputer = (action: AuditAction, data: EventData, ...counts: readonly string[]): AuditedAct => ({
  action,
  resource: { type: 'computer', id: text(data, 'computerId') },
  details: pick(data, ...counts),
});

const isAct = (event: RecordedEvent): boolean =>
  !isStep(event) || event.metadata.causationId.endsWith('/suspended');

/** The audited events of computers, without their versions. */
export const COMPUTER_READINGS: Readonly<Record<string, Reading>> = {
  ActionsOpened: (data) => ofComputer('computer.act', data, 'actions'),
  ComputerCommandRun: (data) => ofComputer('computer.exec', data, 'commandBytes'),
  ComputerCreated: (data) => ofComputer('computer.create', data),
  ComputerDeletionRequested: (data) => ofComputer('computer.delete', data),
  ComputerFellAsleep: (data, event) =>
    text(data, 'reason') === 'requested' && !isStep(event) ? ofComputer('computer.sleep', data) : null,
  ComputerFileWritten: (data) => ofComputer('computer.write', data, 'bytes'),
  ComputerSleepRequested: (data) => ofComputer('computer.sleep', data),
  // Any use wakes a computer, in a step of its own command.
  ComputerStarting: (data, event) =>
    text(data, 'cause') === 'wake' && !isStep(event) ? ofComputer('computer.wake', data) : null,
  ComputerStopping: (data, event) => (isAct(event) ? ofComputer('computer.sleep', data) : null),
  ViewerSessionOpened: (data) => ofComputer('computer.view', data, 'ttlSeconds'),
  ViewerSessionsClosed: (data) => ofComputer('computer.close', data, 'sessions'),
};
