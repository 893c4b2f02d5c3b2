import type { Decider } from '@berth/kernel';
import type { EventCodec } from './event-codec.js';
import type { RecordedEvent } from './event-store.js';

/** Where one command's events stand in its stream. */
export interface CommandTrace {
  readonly first: bigint;
  readonly last: bigint;
  /** Position of the last one in the whole log. */
  readonly position: bigint;
}

/** A stream folded up to `revision` (null: it does not exist), with the commands that wrote to it last. */
export interface StreamState<State> {
  readonly state: State;
  readonly revision: bigint | null;
  /** By command id, oldest first. */
  readonly commands: ReadonlyMap<string, CommandTrace>;
}

/** How many commands of a stream are remembered. */
const REMEMBERED_COMMANDS = 64;

/** Before anything was written. */
export const emptyStream = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
): StreamState<State> => ({
  state: decider.initial,
  revision: null,
  commands: new Map(),
});

/** Goes on from `from` with the events that follow it. */
export const foldStream = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  codec: EventCodec<Event>,
  from: StreamState<State>,
  recorded: readonly RecordedEvent[],
): StreamState<State> => {
  const last = recorded.at(-1);
  if (last === undefined) return from;
  let { state } = from;
  const commands = new Map(from.commands);
  for (const event of recorded) {
    state = decider.evolve(state, codec.fromStored({ type: event.type, data: event.data }));
    remember(commands, event);
  }
  return { state, revision: last.revision, commands };
};

const remember = (
  commands: Map<string, CommandTrace>,
  { metadata, revision, position }: RecordedEvent,
): void => {
  const commandId = metadata.causationId;
  const known = commands.get(commandId);
  commands.delete(commandId);
  commands.set(commandId, { first: known?.first ?? revision, last: revision, position });
  if (commands.size > REMEMBERED_COMMANDS) {
    const [oldest] = commands.keys();
    if (oldest !== undefined) commands.delete(oldest);
  }
};
