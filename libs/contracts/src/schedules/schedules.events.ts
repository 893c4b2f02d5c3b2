import Type, { type Static } from 'typebox';
import { defineEvent } from '../schema/define-event.js';

const NextWakeChanged = Type.Object({
  agentId: Type.String(),
  accountId: Type.String(),
  nextWakeAt: Type.Union([Type.String(), Type.Null()], {
    description: 'ISO 8601; null: no entry of the agent fires again.',
  }),
  at: Type.String({ description: 'ISO 8601.' }),
});
export type NextWakeChanged = Readonly<Static<typeof NextWakeChanged>>;

/** The events of `schedules`: `evt.schedules.<name>.v1.<account>.<agent>`. */
export const schedulesEvents = {
  nextWakeChanged: defineEvent('schedules', 'next-wake-changed', NextWakeChanged),
};
