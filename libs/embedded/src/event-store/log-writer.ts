import { randomBytes } from 'node:crypto';
import { type AppendDecision, decideAppend, type StreamFacts } from './append-decision.js';
import type { EventLog } from './event-log.js';
import {
  type ExpectedRevision,
  idKey,
  metastreamOf,
  originalStreamOf,
  type ProposedEvent,
  TOMBSTONE_REVISION,
} from './log-event.js';
import { RecentIds } from './recent-ids.js';
import { isSoftDeleted, withTruncateBefore } from './stream-metadata.js';

/** A write request. `soft-delete` hides all existing events, `tombstone` closes the stream permanently. */
export type WriteRequest =
  | {
      readonly kind: 'append';
      readonly stream: string;
      readonly expected: ExpectedRevision;
      readonly events: readonly ProposedEvent[];
    }
  | {
      readonly kind: 'soft-delete' | 'tombstone';
      readonly stream: string;
      readonly expected: ExpectedRevision;
    };

/** Also `written` for a recognised retry. `position` is undefined when nothing was written, now or before. */
export type WriteOutcome =
  | { readonly kind: 'written'; readonly revision: number; readonly position: number | undefined }
  /** The same append was written a moment ago and is not readable yet. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'wrong-expected-revision'; readonly current: number }
  | { readonly kind: 'stream-deleted' };

const NOTHING = new Uint8Array(0);

/** Decides about one request after the other and writes the accepted ones, inside the caller's transaction. */
export class LogWriter {
  readonly #recent = new RecentIds();
  /** Position of the last event before the current transaction. */
  #committed = 0;

  constructor(
    private readonly log: EventLog,
    private readonly now: () => number,
  ) {
    this.#rememberTail();
  }

  /** Must be called at the start of each transaction. */
  begin(): void {
    this.#committed = this.log.lastPosition;
  }

  /** Adds streams that get new events to `touched`. Returns refusals; throws only when the disk fails. */
  apply(request: WriteRequest, touched: Set<string>): WriteOutcome {
    const events = request.kind === 'append' ? request.events : [deletion(request.kind)];
    const ids = events.map((event) => idKey(event.id));
    const decision = decideAppend(this.#facts(request.stream), request.expected, ids);
    if (decision.kind !== 'write') return this.#response(request.stream, decision);
    if (request.kind === 'soft-delete') return this.#softDelete(request.stream, touched);
    if (request.kind === 'tombstone') return this.#write(request.stream, events, touched, TOMBSTONE_REVISION);
    return this.#append(request.stream, events, touched);
  }

  /** Must be called when the transaction was rolled back. */
  forgetUncommitted(): void {
    this.log.forgetUncommitted();
    this.#recent.clear();
    this.#rememberTail();
  }

  #append(name: string, events: readonly ProposedEvent[], touched: Set<string>): WriteOutcome {
    const original = originalStreamOf(name);
    const hidden = [name, original].find((each) => each !== undefined && this.#isSoftDeleted(each));
    const visibleFrom = hidden === undefined ? 0 : this.log.directory.lastRevisionOf(hidden) + 1;
    const outcome = this.#write(name, events, touched);
    if (original !== undefined) this.log.directory.forgetMetadataOf(original);
    // Neither a new event nor new metadata may restore events that were deleted before.
    if (hidden !== undefined && events.length > 0) {
      this.#setTruncateBefore(hidden, visibleFrom, touched);
      this.log.directory.hideForAMoment(hidden);
    }
    return outcome;
  }

  #softDelete(name: string, touched: Set<string>): WriteOutcome {
    return this.#setTruncateBefore(name, 'everything', touched);
  }

  #setTruncateBefore(name: string, before: number | 'everything', touched: Set<string>): WriteOutcome {
    const data = withTruncateBefore(this.log.directory.rawMetadataOf(name), before);
    const event = { id: randomBytes(16), type: '$metadata', isJson: true, data, metadata: NOTHING };
    const outcome = this.#write(metastreamOf(name), [event], touched);
    this.log.directory.forgetMetadataOf(name);
    return outcome;
  }

  #write(
    name: string,
    events: readonly ProposedEvent[],
    touched: Set<string>,
    at?: typeof TOMBSTONE_REVISION,
  ): WriteOutcome {
    if (events.length === 0) {
      return { kind: 'written', revision: this.log.directory.lastRevisionOf(name), position: undefined };
    }
    const stream = this.log.directory.intern(name);
    const created = this.now();
    for (const event of events) {
      this.log.append(stream, at ?? stream.lastRevision + 1, event, created);
      this.#recent.remember(idKey(event.id), stream.id, stream.lastRevision);
    }
    touched.add(name);
    return { kind: 'written', revision: stream.lastRevision, position: this.log.lastPosition };
  }

  #response(name: string, decision: Exclude<AppendDecision, { kind: 'write' }>): WriteOutcome {
    if (decision.kind === 'stream-deleted') return decision;
    const stream = this.log.directory.find(name);
    if (decision.kind === 'wrong-expected-revision') {
      return { kind: decision.kind, current: this.log.directory.lastRevisionOf(name) };
    }
    const revision = decision.lastRevision;
    const position = stream === undefined ? undefined : this.log.positionOf(stream, revision);
    if (position !== undefined && position > this.#committed) return { kind: 'dropped' };
    return { kind: 'written', revision, position };
  }

  #facts(name: string): StreamFacts {
    const { log } = this;
    const stream = log.directory.find(name);
    return {
      lastRevision: log.directory.lastRevisionOf(name),
      softDeleted: this.#isSoftDeleted(name),
      hasMetadata: () => log.directory.lastRevisionOf(metastreamOf(name)) >= 0,
      idAt: (revision) => (stream === undefined ? undefined : log.idAt(stream, revision)),
      recentRevisionOf: (id) => (stream === undefined ? undefined : this.#recent.revisionIn(stream.id, id)),
    };
  }

  #isSoftDeleted(name: string): boolean {
    return isSoftDeleted(this.log.directory.metadataOf(name));
  }

  #rememberTail(): void {
    for (const { id, streamId, revision } of this.log.recentIds(this.#recent.reach)) {
      this.#recent.remember(id, streamId, revision);
    }
  }
}

function deletion(kind: 'soft-delete' | 'tombstone'): ProposedEvent {
  const type = kind === 'tombstone' ? '$streamDeleted' : '$metadata';
  return { id: randomBytes(16), type, isJson: true, data: Buffer.from('{}'), metadata: NOTHING };
}
