import { defineRequest } from '@berth/kernel';

export interface NoteNextWake {
  readonly agentId: string;
  /** ISO 8601; null: no schedule of the agent fires again. */
  readonly nextWakeAt: string | null;
  /** Position of the event in the log, in decimal; a note older than the last one is ignored. */
  readonly position: string;
}

/** The end user who owns an agent; null without one. */
export interface OwnerOfAgent {
  readonly endUserId: string | null;
}

/** What `schedules` tells and asks `agents`. */
export const nextWakeRequests = {
  /** Once it returns, the agent's view shows it. */
  note: defineRequest<NoteNextWake, Record<string, never>>('cmd.agents.note-next-wake.v1', 5_000, {
    whenLost: 'repeat',
  }),
  /** Works in every state; never wakes. Errors: not_found `agent_not_found`. */
  ownerOf: defineRequest<{ readonly accountId: string; readonly agentId: string }, OwnerOfAgent>(
    'qry.agents.owner.v1',
  ),
};
