import type { Decider } from './decider.js';
import { fold } from './decider.js';

/** The outcome of `given(events).when(command)` as plain data: the events, or the error that was thrown. */
export interface Decided<Event> {
  readonly events: readonly Event[];
  readonly refusal: unknown;
}

/** Given/when/then for deciders, without mocks: returns the events, or the error that `decide` threw. */
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
