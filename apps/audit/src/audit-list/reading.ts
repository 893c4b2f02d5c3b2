import type { AuditAction, AuditOutcome } from '@berth/contracts/audit';
import type { EventData, RecordedEvent } from '@berth/event-store';
import type { Details } from './details.js';
import type { PersonalDetails } from './personal-details.js';

/** What an event says about an act. Ids and figures only; contents and secrets never. */
export interface AuditedAct {
  readonly action: AuditAction;
  readonly resource: { readonly type: string; readonly id: string };
  readonly details: Details;
  readonly outcome?: AuditOutcome;
  /** Of an act on an agent. */
  readonly personal?: PersonalDetails | null;
}

/** What the audit reads of an event type: the act, if it records one. */
export type Reading = (data: EventData, event: RecordedEvent) => AuditedAct | null;

/** Services carry out a command in steps, whose ids are the command's id and a suffix. The command is the act. */
export const isStep = ({ metadata: { causationId } }: RecordedEvent): boolean => causationId.includes('/');
