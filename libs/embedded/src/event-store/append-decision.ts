import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS, TOMBSTONE_REVISION } from './log-event.js';

/** The facts about a stream that decide whether an append is written. */
export interface StreamFacts {
  /** -1 when nothing was ever written, {@link TOMBSTONE_REVISION} when the stream is tombstoned. */
  readonly lastRevision: number;
  readonly softDeleted: boolean;
  hasMetadata(): boolean;
  /** Key of the event at that revision; undefined when there is none. */
  idAt(revision: number): string | undefined;
  /** Revision, in this stream, of a recently written event. */
  recentRevisionOf(id: string): number | undefined;
}

/** `write`: append after the last revision. `idempotent`: the events are already stored, ending at `lastRevision`. */
export type AppendDecision =
  | { readonly kind: 'write' }
  | { readonly kind: 'idempotent'; readonly lastRevision: number }
  | { readonly kind: 'wrong-expected-revision' }
  | { readonly kind: 'stream-deleted' };

const WRITE: AppendDecision = { kind: 'write' };
const WRONG: AppendDecision = { kind: 'wrong-expected-revision' };
const DELETED: AppendDecision = { kind: 'stream-deleted' };

/**
 * Decides about an append like EventStoreDB (`IndexWriter.CheckCommit`): a retry with the same expected revision and
 * the same ids is recognised; any other append that expects a past revision is refused.
 */
export function decideAppend(
  facts: StreamFacts,
  expected: ExpectedRevision,
  ids: readonly string[],
): AppendDecision {
  if (facts.lastRevision === TOMBSTONE_REVISION) return DELETED;
  if (expected === STREAM_EXISTS) {
    if (facts.softDeleted) return DELETED;
    if (facts.lastRevision < 0 && !facts.hasMetadata()) return WRONG;
  }
  if (expected === ANY || expected === STREAM_EXISTS) return decideByRecentIds(facts, ids);
  if (expected < facts.lastRevision) return decideByStoredIds(facts, expected, ids);
  return expected === facts.lastRevision ? WRITE : WRONG;
}

function decideByRecentIds(facts: StreamFacts, ids: readonly string[]): AppendDecision {
  let lastRevision: number | undefined;
  for (const id of ids) {
    const revision = facts.recentRevisionOf(id);
    // Known ids followed by an unknown one: a different append that reuses ids, and not a retry.
    if (revision === undefined) return lastRevision === undefined ? WRITE : WRONG;
    lastRevision = revision;
  }
  return lastRevision === undefined ? WRITE : { kind: 'idempotent', lastRevision };
}

function decideByStoredIds(
  facts: StreamFacts,
  expected: ExpectedRevision,
  ids: readonly string[],
): AppendDecision {
  let revision = expected;
  for (const id of ids) {
    revision += 1;
    if (facts.idAt(revision) === id) continue;
    const reopens = revision === 0 && expected === NO_STREAM && facts.softDeleted;
    return reopens ? WRITE : WRONG;
  }
  return ids.length === 0 ? WRONG : { kind: 'idempotent', lastRevision: revision };
}
