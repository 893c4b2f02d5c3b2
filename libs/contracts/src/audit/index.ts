export {
  auditRequests,
  AUDIT_ACTOR_KINDS,
  AUDIT_OUTCOMES,
  type AuditActor,
  type AuditOutcome,
  type AuditView,
  type ListAudit,
  type RecordRefusal,
} from './audit.requests.js';
export { AUDIT_ACTIONS, auditQuery, type AuditAction, type AuditQuery } from './audit.schemas.js';
