import type { Decider } from '@berth/kernel';
import type { EventCodec } from './event-codec.js';
import type { RecordedEvent } from './event-store.js';

/** The parts of an event that folding needs; the event was read or is about to be written. */
export type FoldedEvent = Pick<RecordedEvent, 'id' | 'type' | 'data' | 'metadata' | 'revision'>;

/** A stream folded up to `revision` (null if it does not exist), with the most recent commands. */
export interface StreamState<State> {
  readonly state: State;
  readonly revision: bigint | null;
  /** Id of the event at `revision`. */
  readonly eventId: string | null;
  /** Revision of each command's first event, by command id, oldest first. */
  readonly commands: ReadonlyMap<string, bigint>;
  /** Revision of the last snapshot that this process knows of. */
  readonly snapshotRevision: bigint | null;
}

/** Number of commands of a stream that are remembered. */
const REMEMBERED_COMMANDS = 64;

/** The state of a stream without events. */
export const emptyStream = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
): StreamState<State> => ({
  state: decider.initial,
  revision: null,
  eventId: null,
  commands: new Map(),
  snapshotRevision: null,
});

/** Folds the events that follow `from`. */
export const foldStream = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  codec: EventCodec<Event>,
  from: StreamState<State>,
  events: readonly FoldedEvent[],
): StreamState<State> => {
  const last = events.at(-1);
  if (last === undefined) return from;
  let { state } = from;
  const commands = new Map(from.commands);
  for (const event of events) {
    state = decider.evolve(state, codec.fromStored({ type: event.type, data: event.data }));
    remember(commands, event);
  }
  return { ...from, state, revision: last.revision, eventId: last.id, commands };
};

const remember = (commands: Map<string, bigint>, { metadata, revision }: FoldedEvent): void => {
  const commandId = metadata.causationId;
  const first = commands.get(commandId) ?? revision;
  commands.delete(commandId);
  commands.set(commandId, first);
  if (commands.size > REMEMBERED_COMMANDS) {
    const [oldest] = commands.keys();
    if (oldest !== undefined) commands.delete(oldest);
  }
};
