import Type from 'typebox';
import { isoTime, oneOf, pageMembers, text, type Shape } from '../schema/index.js';

/** What the audit records, as `<resource>.<verb>`. */
export const AUDIT_ACTIONS = [
  'access.refused',
  'account.create',
  'account.update',
  'agent.create',
  'agent.delete',
  'agent.deploy',
  'agent.restart',
  'agent.sleep',
  'agent.start',
  'agent.stop',
  'cap.threshold',
  'computer.act',
  'computer.close',
  'computer.create',
  'computer.delete',
  'computer.exec',
  'computer.sleep',
  'computer.view',
  'computer.wake',
  'computer.write',
  'credits.grant',
  'end_user.create',
  'end_user.delete',
  'end_user.resume',
  'end_user.suspend',
  'end_user.update',
  'env.delete',
  'env.set',
  'execution.cancel',
  'execution.submit',
  'file.delete',
  'file.mkdir',
  'file.move',
  'file.upload',
  'file.write',
  'key.mint',
  'key.revoke',
  'policy.delete',
  'policy.set',
  'token.mint',
  'token.revoke',
  'webhook.rotate',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

const id = (description: string) => Type.Optional(text({ max: 256 }, { description }));

/** `GET /api/v1/audit`. */
export const auditQuery = Type.Object({
  actor: id('Only what the actor with this id did.'),
  resource: id('Only what concerns the resource with this id.'),
  action: Type.Optional(oneOf(AUDIT_ACTIONS)),
  from: Type.Optional(isoTime({ description: 'The earliest time, inclusive.' })),
  to: Type.Optional(isoTime({ description: 'The latest time, inclusive.' })),
  ...pageMembers,
});
export type AuditQuery = Shape<typeof auditQuery>;
