import { defineRequest, type Actor, type Json, type Page } from '@berth/kernel';
import type { NullWhenAbsent } from '../schema/index.js';
import type { AuditAction, AuditQuery } from './audit.schemas.js';

export const AUDIT_ACTOR_KINDS = ['key', 'end_user', 'agent', 'system'] as const;
export const AUDIT_OUTCOMES = ['ok', 'refused', 'failed'] as const;

export interface AuditActor {
  readonly kind: (typeof AUDIT_ACTOR_KINDS)[number];
  /** For an end user: `eus_…` between services, the external id in the API; null there once it is deleted. */
  readonly id: string | null;
}

export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** One act, as the API shows it. */
export interface AuditView {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: AuditActor;
  readonly action: AuditAction;
  /** The object of the act. The id of an end user is as in `actor`. */
  readonly resource: { readonly type: string; readonly id: string | null };
  /** The `X-Request-Id` of the request; null for what no request caused. */
  readonly requestId: string | null;
  readonly outcome: AuditOutcome;
  readonly details: { readonly [member: string]: Json };
}

/** `from` and `to` are ISO 8601 in UTC. */
export interface ListAudit extends NullWhenAbsent<AuditQuery> {
  readonly accountId: string;
}

/** A request that was answered with 403. */
export interface RecordRefusal {
  readonly accountId: string;
  readonly actor: Actor;
  /** The id of the credential: an end user may have several tokens. */
  readonly credentialId: string;
  /** Method and pattern of the route: `POST /api/agents/:agent_id/start`. */
  readonly route: string;
  /** The code of the error. */
  readonly code: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The requests that `audit` handles. */
export const auditRequests = {
  /** Newest first. Errors: invalid `invalid_request` for a malformed cursor. */
  list: defineRequest<ListAudit, Page<AuditView>>('qry.audit.list.v1'),
  /** Recorded once per credential, route and minute. */
  recordRefusal: defineRequest<RecordRefusal, Record<string, never>>('cmd.audit.record-refusal.v1', 5_000, {
    whenLost: 'repeat',
  }),
};
