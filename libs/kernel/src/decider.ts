/**
 * A pure decision function: takes commands, returns events. Time and ids are part of the command, so replaying a
 * history always produces the same state.
 */
export interface Decider<State, Command, Event> {
  readonly initial: State;
  /**
   * Returns the events that `command` causes in `state`; `[]` means the state already satisfies the command. Throws
   * `DomainError` to refuse it.
   */
  decide(this: void, command: Command, state: State): readonly Event[];
  evolve(this: void, state: State, event: Event): State;
}

/** Folds a history into a state. */
export const fold = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  events: readonly Event[],
  from: State = decider.initial,
): State => events.reduce((state, event) => decider.evolve(state, event), from);
