import { defineRequest } from '@berth/kernel';

export interface NoteNextWake {
  readonly agentId: string;
  /** ISO 8601; null: no schedule of the agent fires again. */
  readonly nextWakeAt: string | null;
  /** Position of the event in the log, in decimal; a note older than the last one is ignored. */
  readonly position: string;
}

/** The owner of an agent; `endUserId` is null without an end user. */
export interface OwnerOfAgent {
  readonly accountId: string;
  readonly endUserId: string | null;
}

/** The requests of `schedules` to `agents`. */
export const nextWakeRequests = {
  /** Once it returns, the agent's view shows it. */
  note: defineRequest<NoteNextWake, Record<string, never>>('cmd.agents.note-next-wake.v1', 5_000, {
    whenLost: 'repeat',
  }),
  /** Works in every state; never wakes. Errors: not_found `agent_not_found`. */
  ownerOf: defineRequest<{ readonly agentId: string }, OwnerOfAgent>('qry.agents.owner.v1'),
};
