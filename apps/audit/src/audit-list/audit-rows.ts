import type { AuditActor, AuditOutcome } from '@berth/contracts/audit';
import type { EventData, RecordedEvent } from '@berth/event-store';
import { idOf, type Actor } from '@berth/kernel';
import { actOf, baseTypeOf, outcomeOf, type ActOutcome } from './audited-act.js';
import type { SealedDetails } from './personal-details.js';
import { clearIn, membersOf } from './personal-member.js';

/** A row of the audit, as JSON for a bulk insert. */
export interface AuditRow {
  readonly position: string;
  readonly id: string;
  readonly account_id: string;
  readonly at: string;
  readonly actor_kind: AuditActor['kind'];
  readonly actor_id: string;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly request_id: string | null;
  readonly outcome: AuditOutcome;
  readonly details: Readonly<Record<string, unknown>>;
  /** The stream whose later events tell the outcome; null where none does. */
  readonly stream: string | null;
  /** What of the details belongs to an end user; queries show it as long as that exists. */
  readonly sealed: SealedDetails | null;
}

export interface StreamOutcome extends ActOutcome {
  readonly stream: string;
}

export interface AuditChanges {
  readonly rows: readonly AuditRow[];
  readonly outcomes: readonly StreamOutcome[];
  /** The agents of the batch that belong to no end user. */
  readonly ownAgents: readonly string[];
}

/**
 * What a batch of events adds to the audit. `ownAgents` are the agents of earlier batches that belong to no end user; only
 * their names and paths are in plaintext. Depends on the order of the events alone, not on how they are divided into batches.
 */
export const changesOf = (events: readonly RecordedEvent[], ownAgents: ReadonlySet<string>): AuditChanges => {
  const rows: AuditRow[] = [];
  const outcomes: StreamOutcome[] = [];
  const added = new Set<string>();
  for (const event of events) {
    if (isOwnAgentCreated(event)) added.add(String(event.data['agentId']));
    const row = rowOf(event, (agentId) => added.has(agentId) || ownAgents.has(agentId));
    if (row !== null) rows.push(row);
    const outcome = outcomeOf(event);
    if (outcome !== null) outcomes.push({ stream: event.stream, ...outcome });
  }
  return { rows, outcomes, ownAgents: [...added] };
};

/** The ids of all agents in the events. */
export const agentsIn = (events: readonly RecordedEvent[]): readonly string[] => [
  ...new Set(events.flatMap(({ data: { agentId } }) => (typeof agentId === 'string' ? [agentId] : []))),
];

/** An unknown shape of the owner counts as an end user, so that a new version of the event shows no names. */
const isOwnAgentCreated = ({ type, data }: RecordedEvent): boolean =>
  baseTypeOf(type) === 'AgentCreated' && ownerIn(data) === null;

/** The first two versions name the owner themselves. Later ones have an external user id only from before it had a key. */
const ownerIn = (data: EventData): unknown => {
  if (data['externalUserId'] !== undefined) return data['endUserId'] ?? data['externalUserId'];
  const { endUserId } = membersOf(data['personal']);
  return endUserId === null ? membersOf(clearIn(data, 'personal'))['externalUserId'] : endUserId;
};

const rowOf = (event: RecordedEvent, isOwn: (agentId: string) => boolean): AuditRow | null => {
  const act = actOf(event);
  if (act === null) return null;
  const { metadata, position, createdAt } = event;
  const { personal } = act;
  const { kind, id } = actorOf(metadata.actor);
  const clear = isOwn(act.resource.id) ? personal?.clear : {};
  return {
    position: position.toString(),
    id: idOf('aud', createdAt.getTime(), event.id),
    account_id: metadata.accountId,
    at: createdAt.toISOString(),
    actor_kind: kind,
    actor_id: id,
    action: act.action,
    resource_type: act.resource.type,
    resource_id: act.resource.id,
    // Without a request the correlation is the command's own id.
    request_id: metadata.correlationId === metadata.causationId ? null : metadata.correlationId,
    outcome: act.outcome ?? 'ok',
    details: { ...act.details, ...personal?.hidden, ...clear },
    stream: FOLLOWED.test(event.type) ? event.stream : null,
    sealed: personal?.sealed ?? null,
  };
};

/** The events whose streams continue with an outcome. */
const FOLLOWED = /^(ExecutionSubmitted|FileChangeRequested)(\.v\d+)?$/;

/** The kinds that the API knows; webhooks, viewers and timers act for the system. */
const actorOf = ({ kind, id }: Actor): AuditActor & { readonly id: string } => ({
  kind: KINDS[kind] ?? 'system',
  id,
});

const KINDS: Readonly<Record<string, AuditActor['kind']>> = {
  key: 'key',
  end_user: 'end_user',
  end_user_token: 'end_user',
  agent: 'agent',
};
