import type { Decider } from './decider.js';
import { fold } from './decider.js';

/** `given(events).when(command)` as plain data: what happened, or what was refused. */
export interface Decided<Event> {
  readonly events: readonly Event[];
  readonly refusal: unknown;
}

/** Given/when/then for deciders, without mocks: answers the events or the error that `decide` threw. */
export const decideGiven = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  history: readonly Event[],
  command: Command,
): Decided<Event> => {
  try {
    return { events: decider.decide(command, fold(decider, history)), refusal: undefined };
  } catch (refusal) {
    return { events: [], refusal };
  }
};
