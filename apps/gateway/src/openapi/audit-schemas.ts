import { AUDIT_ACTIONS, AUDIT_ACTOR_KINDS, AUDIT_OUTCOMES, type AuditView } from '@berth/contracts/audit';
import { object, page, text, textOrNull, time, view, type JsonSchema } from './json-schema.js';

const idOrNull: JsonSchema = {
  ...textOrNull,
  description: 'Of an end user its external id; null once the end user is deleted.',
};

/** The schemas of responses about the audit. */
export const AUDIT_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  AuditedAct: view<AuditView>({
    id: { ...text, examples: ['aud_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
    at: time,
    actor: object({ kind: { enum: [...AUDIT_ACTOR_KINDS] }, id: idOrNull }),
    action: { enum: [...AUDIT_ACTIONS] },
    resource: object({ type: text, id: idOrNull }),
    requestId: { ...textOrNull, description: 'The `X-Request-Id` of the request; null if none caused it.' },
    outcome: { enum: [...AUDIT_OUTCOMES] },
    details: { type: 'object', additionalProperties: true },
  }),
  AuditPage: page('AuditedAct'),
};
