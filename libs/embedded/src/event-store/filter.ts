import { invalidArgument } from './errors.js';
import type { RecordedEvent } from './log-event.js';
import type { streams } from './protocol.js';

/* EventStoreDB's page size, used when the caller specifies no window. */
const DEFAULT_WINDOW = 32;

/** Which events of the log a reader wants, and after how many searched events it wants a checkpoint. */
export interface EventFilter {
  readonly matches: (event: Pick<RecordedEvent, 'streamName' | 'type'>) => boolean;
  /** Number of events that one page searches. */
  readonly window: number;
  readonly checkpointInterval: number;
}

/** Reads the filter of a request; throws a status for an invalid one. */
export function toEventFilter(
  options: streams.ReadReq.Options.FilterOptions,
  forSubscription: boolean,
): EventFilter {
  const multiplier = options.getCheckpointintervalmultiplier();
  if (forSubscription && multiplier < 1)
    throw invalidArgument('checkpointIntervalMultiplier must be greater than 0.');
  const window = options.hasMax() ? options.getMax() : DEFAULT_WINDOW;
  if (window < 1) throw invalidArgument('maxSearchWindow must be greater than 0.');
  const checkpointInterval = multiplier * window;

  const onStream = options.getStreamIdentifier();
  if (onStream !== undefined) {
    const wanted = toPredicate(onStream);
    return { matches: (event) => wanted(event.streamName), window, checkpointInterval };
  }
  const onType = options.getEventType();
  if (onType === undefined)
    throw invalidArgument('A filter must apply to the stream name or the event type.');
  const wanted = toPredicate(onType);
  return { matches: (event) => wanted(event.type), window, checkpointInterval };
}

function toPredicate(
  expression: streams.ReadReq.Options.FilterOptions.Expression,
): (text: string) => boolean {
  const regex = expression.getRegex();
  const prefixes = expression.getPrefixList();
  if (regex === '') return (text) => prefixes.some((prefix) => text.startsWith(prefix));
  if (prefixes.length > 0) throw invalidArgument('A filter must have either a regex or prefixes.');
  const pattern = compile(regex);
  return (text) => pattern.test(text);
}

function compile(regex: string): RegExp {
  try {
    return new RegExp(regex);
  } catch {
    throw invalidArgument(`'${regex}' is not a regular expression that this server supports.`);
  }
}
