/**
 * A pure decision: commands in, events out. Time and ids arrive inside the command, so that replaying
 * a history always gives the same state.
 */
export interface Decider<State, Command, Event> {
  readonly initial: State;
  /** Answers the events that `command` causes in `state`; `[]` means "already so"; a refusal throws `DomainError`. */
  decide(this: void, command: Command, state: State): readonly Event[];
  evolve(this: void, state: State, event: Event): State;
}

/** Folds a history into a state. */
export const fold = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  events: readonly Event[],
  from: State = decider.initial,
): State => events.reduce((state, event) => decider.evolve(state, event), from);
