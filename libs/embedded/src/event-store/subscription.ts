import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setPosition } from './codec.js';
import type { CommitSignal } from './commit-signal.js';
import { shuttingDown } from './errors.js';
import type { EventLog } from './event-log.js';
import type { Feed, FeedItem } from './feed.js';
import { encodeForReader } from './link-resolver.js';
import type { PacedWriter } from './paced-writer.js';
import { streams } from './protocol.js';

/* A live subscriber further behind than this is notified. */
const BEHIND = 1_000;

/** The sources of a subscription's events. */
export interface SubscriptionSources {
  readonly log: EventLog;
  readonly signal: CommitSignal;
}

/**
 * Sends the events of the feed and then everything that is committed, until the caller is gone. Every event, including
 * live ones, is read from the log after the last one sent, so none can be missed or duplicated in the transition from
 * catching up to live.
 */
export async function runSubscription(
  { log, signal }: SubscriptionSources,
  feed: Feed,
  writer: PacedWriter,
  resolveLinks: boolean,
): Promise<void> {
  const commits = new NewCommits(signal, feed.stream, writer);
  try {
    await send(writer, confirmation());
    let live = false;
    while (!writer.closed) {
      if (signal.closed) throw shuttingDown();
      commits.seen();
      const { items, complete } = feed.next();
      await sendItems(log, writer, items, resolveLinks);
      if (writer.closed) return;
      if (!complete) {
        if (live && feed.distanceToEnd() > BEHIND) {
          live = false;
          await send(writer, new streams.ReadResp().setFellBehind(new streams.ReadResp.FellBehind()));
          await sendItems(log, writer, feed.fallBehind(), resolveLinks);
        }
        await nextTurn();
        continue;
      }
      if (!live) {
        live = true;
        await send(writer, new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
      }
      await commits.next();
    }
  } finally {
    commits.stop();
  }
}

async function sendItems(
  log: EventLog,
  writer: PacedWriter,
  items: readonly FeedItem[],
  resolveLinks: boolean,
): Promise<void> {
  for (const item of items) {
    if (writer.closed) return;
    const isCheckpoint = 'checkpoint' in item;
    await send(writer, isCheckpoint ? checkpoint(item.checkpoint) : encodeForReader(log, item, resolveLinks));
  }
}

async function send(writer: PacedWriter, response: Buffer | streams.ReadResp): Promise<void> {
  const message = Buffer.isBuffer(response) ? response : Buffer.from(response.serializeBinary());
  if (!writer.write(message)) await writer.drained();
}

function confirmation(): streams.ReadResp {
  const message = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID());
  return new streams.ReadResp().setConfirmation(message);
}

function checkpoint(position: number): streams.ReadResp {
  return new streams.ReadResp().setCheckpoint(setPosition(new streams.ReadResp.Checkpoint(), position));
}

/* A commit between reading and waiting must end the wait immediately, so it is remembered. */
class NewCommits {
  #pending = false;
  #wake: (() => void) | undefined;
  readonly #stops: readonly (() => void)[];

  constructor(signal: CommitSignal, stream: string | undefined, writer: PacedWriter) {
    const arrived = (): void => {
      this.#pending = true;
      this.#wake?.();
    };
    this.#stops = [signal.listen(stream, arrived), writer.onClose(arrived)];
  }

  seen(): void {
    this.#pending = false;
  }

  async next(): Promise<void> {
    if (this.#pending) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
