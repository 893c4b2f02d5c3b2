import type { AuditAction, AuditOutcome } from '@berth/contracts/audit';
import type { EventData, RecordedEvent } from '@berth/event-store';
import { showCents } from '@berth/kernel';
import { COMPUTER_READINGS } from './computer-acts.js';
import { pick, text, type Details } from './details.js';
import { nameIn, pathsIn, variableIn, type PersonalDetails } from './personal-details.js';
import { isStep, type AuditedAct, type Reading } from './reading.js';

/** A later event of the same stream: the outcome of the act that its first event recorded. */
export interface ActOutcome {
  readonly outcome: AuditOutcome;
  readonly code: string;
}

const ofAgent = (
  action: AuditAction,
  data: EventData,
  details: Details = {},
  personal: PersonalDetails | null = null,
): AuditedAct => ({ action, resource: { type: 'agent', id: text(data, 'agentId') }, details, personal });

const ofAccount = (action: AuditAction, data: EventData, details: Details): AuditedAct => ({
  action,
  resource: { type: 'account', id: text(data, 'accountId') },
  details,
});

const ofKey = (action: AuditAction, data: EventData, details: Details): AuditedAct => ({
  action,
  resource: { type: 'key', id: text(data, 'keyId') },
  details,
});

const ofEndUser = (action: AuditAction, data: EventData, details: Details = {}): AuditedAct => ({
  action,
  resource: { type: 'end_user', id: text(data, 'endUserId') },
  details,
});

const tokenMinted: Reading = (data) => ({
  action: 'token.mint',
  resource: { type: 'token', id: text(data, 'tokenId') },
  details: pick(data, 'endUserId', 'agentId', 'scopes', 'expiresAt'),
});

const ofExecution = (action: AuditAction, data: EventData, details: Details): AuditedAct => ({
  action,
  resource: { type: 'execution', id: text(data, 'executionId') },
  details: { agentId: text(data, 'agentId'), ...details },
});

const starting: Reading = (data, event) => {
  const cause = text(data, 'cause');
  if (cause === 'restart') return ofAgent('agent.restart', data);
  // A caller that needs the agent awake causes a wake in a step of its own command.
  return cause === 'start' || (cause === 'wake' && !isStep(event)) ? ofAgent('agent.start', data) : null;
};

const stopping: Reading = (data, event) => {
  if (text(data, 'target') === 'stopped') return ofAgent('agent.stop', data);
  const isAct = !isStep(event) || event.metadata.causationId.endsWith('/suspended');
  return isAct ? ofAgent('agent.sleep', data) : null;
};

const fellAsleep: Reading = (data, event) =>
  text(data, 'reason') === 'requested' && !isStep(event) ? ofAgent('agent.sleep', data) : null;

const FILE_ACTIONS: Readonly<Record<string, AuditAction>> = {
  write: 'file.write',
  upload: 'file.upload',
  attach: 'file.upload',
  mkdir: 'file.mkdir',
  move: 'file.move',
  delete: 'file.delete',
};

const fileChange: Reading = (data) => {
  const action = FILE_ACTIONS[text(data, 'op')];
  return action === undefined ? null : ofAgent(action, data, {}, pathsIn(data));
};

const refused: Reading = (data) => ({
  action: 'access.refused',
  resource: { type: 'route', id: text(data, 'route') },
  details: pick(data, 'code'),
  outcome: 'refused',
});

const deployed: Reading = (data) => {
  const { origin } = data;
  const kind = typeof origin === 'object' && origin !== null && 'kind' in origin ? origin['kind'] : null;
  return ofAgent('agent.deploy', data, { ...pick(data, 'deploymentId'), source: kind });
};

/** The audited event types, without their versions. */
const READINGS: Readonly<Record<string, Reading>> = {
  AccessRefused: refused,
  AccountOpened: (data) => ofAccount('account.create', data, pick(data, 'name', 'plan')),
  AccountChanged: (data) => ofAccount('account.update', data, pick(data, 'name', 'plan')),
  AccountSuspended: (data) => ofAccount('account.update', data, { suspended: true }),
  AccountResumed: (data) => ofAccount('account.update', data, { suspended: false }),
  AgentCreated: (data) => ofAgent('agent.create', data, pick(data, 'templateId'), nameIn(data)),
  AgentDeletionRequested: (data) => ofAgent('agent.delete', data),
  AgentFellAsleep: fellAsleep,
  AgentSleepRequested: (data) => ofAgent('agent.sleep', data),
  AgentStarting: starting,
  AgentStopping: stopping,
  ...COMPUTER_READINGS,
  CapThresholdReached: (data) => ofEndUser('cap.threshold', data, pick(data, 'cap', 'period', 'percent')),
  CreditsGranted: (data) => ofAccount('credits.grant', data, { cents: centsIn(data), ...pick(data, 'note') }),
  DeploymentRequested: deployed,
  EndUserCreated: (data) => ofEndUser('end_user.create', data),
  EndUserDeleted: (data) => ofEndUser('end_user.delete', data),
  EndUserDefaultsRemoved: (data) => ofAccount('policy.delete', data, { defaults: true }),
  EndUserDefaultsSet: (data) => ofAccount('policy.set', data, { defaults: true, ...pick(data, 'policy') }),
  EndUserPolicyRemoved: (data) => ofEndUser('policy.delete', data),
  EndUserPolicySet: (data) => ofEndUser('policy.set', data, pick(data, 'policy')),
  EndUserResumed: (data) => ofEndUser('end_user.resume', data),
  EndUserSuspended: (data) => ofEndUser('end_user.suspend', data),
  EndUserTokenMinted: tokenMinted,
  // One act revokes all living tokens of an end user.
  EndUserTokensRevoked: (data) => ofEndUser('token.revoke', data, pick(data, 'tokenIds')),
  EndUserUpdated: (data) => ofEndUser('end_user.update', data),
  EnvVarRemoved: (data) => ofAgent('env.delete', data, {}, variableIn(data)),
  EnvVarSet: (data) => ofAgent('env.set', data, pick(data, 'isSecret'), variableIn(data)),
  ExecutionCancelRequested: (data) => ofExecution('execution.cancel', data, {}),
  ExecutionSubmitted: (data) =>
    ofExecution('execution.submit', data, pick(data, 'detached', 'commandBytes', 'commandSha256')),
  FileChangeRequested: fileChange,
  OlderExecutionSubmitted: (data) =>
    ofExecution('execution.submit', data, pick(data, 'commandBytes', 'commandSha256')),
  KeyMinted: (data) => ofKey('key.mint', data, pick(data, 'name', 'scopes', 'expiresAt')),
  KeyRevoked: (data) => ofKey('key.revoke', data, {}),
  WebhookTokenRotated: (data) => ofAgent('webhook.rotate', data),
};

/** Grants are whole cents. */
const centsIn = (data: EventData): number => showCents(BigInt(text(data, 'amount')));

/** Event types that end an act: their streams begin with it. */
const OUTCOMES: Readonly<Record<string, (data: EventData) => ActOutcome>> = {
  ExecutionRefused: (data) => ({ outcome: 'failed', code: text(data, 'code') }),
  FileChangeRefused: (data) => ({ outcome: 'refused', code: text(data, 'code') }),
};

/** The categories of the streams that the audit reads. */
export const AUDITED_CATEGORIES: readonly string[] = [
  'account',
  'agent',
  'agentEnv',
  'computeCap',
  'computer',
  'computerUse',
  'deployment',
  'endUser',
  'endUserDefaults',
  'endUserTokens',
  'execution',
  'fileChange',
  'key',
  'llmAccount',
  'llmEndUser',
  'olderExecution',
  'refusal',
  'viewerSession',
  'webhookToken',
];

/** `AgentCreated.v2` → `AgentCreated`: a new version keeps the members that the audit reads, or loses its names. */
export const baseTypeOf = (type: string): string => type.replace(/\.v\d+$/, '');

export const isAudited = (type: string): boolean =>
  baseTypeOf(type) in READINGS || baseTypeOf(type) in OUTCOMES;

export const actOf = (event: RecordedEvent): AuditedAct | null =>
  READINGS[baseTypeOf(event.type)]?.(event.data, event) ?? null;

export const outcomeOf = (event: RecordedEvent): ActOutcome | null =>
  OUTCOMES[baseTypeOf(event.type)]?.(event.data) ?? null;
