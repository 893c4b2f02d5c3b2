import Type, { type Static } from 'typebox';
import { defineEvent } from '../schema/define-event.js';
import { ENDED_STATUSES } from '../hosting/index.js';

const execution = {
  executionId: Type.String(),
  agentId: Type.String(),
  accountId: Type.String(),
  at: Type.String({ description: 'ISO 8601.' }),
};

const ExecutionSubmitted = Type.Object({ ...execution, detached: Type.Boolean() });

const ExecutionEnded = Type.Object({
  ...execution,
  status: Type.Enum([...ENDED_STATUSES]),
  durationMs: Type.Number({
    description: 'From start to end, in milliseconds; 0 if the start is not known.',
  }),
});

/** A command was accepted and will be started. */
export type ExecutionSubmittedEvent = Readonly<Static<typeof ExecutionSubmitted>>;
export type ExecutionEndedEvent = Readonly<Static<typeof ExecutionEnded>>;

/** The events of `exec`: `evt.exec.<name>.v1.<account>.<execution>`. */
export const execEvents = {
  submitted: defineEvent('exec', 'submitted', ExecutionSubmitted),
  ended: defineEvent('exec', 'ended', ExecutionEnded),
};
