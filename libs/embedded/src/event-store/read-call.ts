import { setImmediate as nextTurn } from 'node:timers/promises';
import { AllFeed } from './all-feed.js';
import { toNumber, toStreamIdentifier, toStreamName } from './codec.js';
import { forwardsFromEnd, invalidArgument, toCallError } from './errors.js';
import type { Direction, EventLog } from './event-log.js';
import type { Feed } from './feed.js';
import { toEventFilter } from './filter.js';
import { BEFORE_THE_LOG, FilteredFeed } from './filtered-feed.js';
import { encodeForReader } from './link-resolver.js';
import { PacedWriter, type ReadCall } from './paced-writer.js';
import { streams } from './protocol.js';
import { StreamFeed, streamIsReadable } from './stream-feed.js';
import { runSubscription, type SubscriptionSources } from './subscription.js';

type Options = streams.ReadReq.Options;

/** Handles reads and subscriptions; the protocol has a single call for all of them. */
export function readCall(sources: SubscriptionSources): (call: ReadCall) => void {
  return (call) => {
    const writer = new PacedWriter(call);
    serve(sources, call.request.getOptions(), writer).then(
      () => call.end(),
      (error: unknown) => {
        if (!writer.closed) call.emit('error', toCallError(error));
      },
    );
  };
}

async function serve(
  sources: SubscriptionSources,
  options: Options | undefined,
  writer: PacedWriter,
): Promise<void> {
  if (options === undefined) throw invalidArgument('A read needs its options.');
  const { log } = sources;
  if (options.hasSubscription()) {
    await runSubscription(sources, subscriptionFeed(log, options), writer, options.getResolveLinks());
    return;
  }
  if (!options.hasCount()) throw invalidArgument('A read needs a count or a subscription.');
  const stream = options.getStream();
  if (stream !== undefined) {
    if (stream.hasEnd() && toDirection(options) === 'forwards') throw forwardsFromEnd();
    const name = toStreamName(stream.getStreamIdentifier());
    if (!streamIsReadable(log, name)) {
      writer.write(streamNotFound(name));
      return;
    }
  }
  await sendAll(log, readFeed(log, options), options, writer);
}

async function sendAll(log: EventLog, feed: Feed, options: Options, writer: PacedWriter): Promise<void> {
  const resolveLinks = options.getResolveLinks();
  let left = toNumber(options.getCount());
  while (left > 0) {
    const { items, complete } = feed.next();
    for (const item of items) {
      if ('checkpoint' in item) continue;
      if (writer.closed || left === 0) return;
      left -= 1;
      if (!writer.write(encodeForReader(log, item, resolveLinks))) await writer.drained();
    }
    if (complete || writer.closed) return;
    await nextTurn();
  }
}

function readFeed(log: EventLog, options: Options): Feed {
  const direction = toDirection(options);
  const forwards = direction === 'forwards';
  const stream = options.getStream();
  if (stream !== undefined) {
    const name = toStreamName(stream.getStreamIdentifier());
    const last = log.directory.lastRevisionOf(name);
    const from = stream.hasStart() ? 0 : stream.hasEnd() ? last : toNumber(stream.getRevision());
    return new StreamFeed(log, name, from, direction, last);
  }
  const end = forwards ? log.lastPosition + 1 : log.lastPosition;
  // A position lies before its event: forwards, that event comes next; backwards, the one before it.
  const from = allPosition(options, forwards ? 0 : -1, end, forwards ? 0 : -1);
  return new AllFeed(log, from, direction, filterOf(options, false), log.lastPosition);
}

function subscriptionFeed(log: EventLog, options: Options): Feed {
  if (toDirection(options) !== 'forwards') throw invalidArgument('A subscription must read forwards.');
  const stream = options.getStream();
  if (stream !== undefined) {
    const name = toStreamName(stream.getStreamIdentifier());
    const end = log.directory.lastRevisionOf(name) + 1;
    const from = stream.hasStart() ? 0 : stream.hasEnd() ? end : toNumber(stream.getRevision()) + 1;
    return new StreamFeed(log, name, from, 'forwards');
  }
  const filter = filterOf(options, true);
  if (filter !== undefined)
    return new FilteredFeed(log, allPosition(options, BEFORE_THE_LOG, log.lastPosition, 0), filter);
  return new AllFeed(log, allPosition(options, 0, log.lastPosition + 1, 1), 'forwards');
}

function allPosition(options: Options, start: number, end: number, offset: number): number {
  const all = options.getAll();
  if (all === undefined) throw invalidArgument('A read must name a stream or the whole log.');
  if (all.hasStart()) return start;
  if (all.hasEnd()) return end;
  const commit = toNumber(all.getPosition()?.getCommitPosition() ?? '0');
  const prepare = toNumber(all.getPosition()?.getPreparePosition() ?? '0');
  if (prepare > commit)
    throw invalidArgument('The commit position must not be less than the prepare position.');
  return commit + offset;
}

function filterOf(options: Options, forSubscription: boolean): ReturnType<typeof toEventFilter> | undefined {
  const filter = options.getFilter();
  return filter === undefined ? undefined : toEventFilter(filter, forSubscription);
}

function toDirection(options: Options): Direction {
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  return backwards ? 'backwards' : 'forwards';
}

function streamNotFound(name: string): Buffer {
  const message = new streams.ReadResp.StreamNotFound().setStreamIdentifier(toStreamIdentifier(name));
  return Buffer.from(new streams.ReadResp().setStreamNotFound(message).serializeBinary());
}
