import type { Decider } from '@berth/kernel';
import type { EventCodec } from './event-codec.js';
import type { RecordedEvent } from './event-store.js';

/** What of an event a fold needs: one that was read, or one that is about to be written. */
export type FoldedEvent = Pick<RecordedEvent, 'type' | 'data' | 'metadata' | 'revision'>;

/** A stream folded up to `revision` (null: it does not exist), with the commands that wrote to it last. */
export interface StreamState<State> {
  readonly state: State;
  readonly revision: bigint | null;
  /** Revision of each one's first event, by command id, oldest first. */
  readonly commands: ReadonlyMap<string, bigint>;
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
  return { state, revision: last.revision, commands };
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
