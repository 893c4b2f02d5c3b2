import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedEvent, StoredEvent } from '@berth/event-store';
import { describe, expect, it } from 'vitest';
import { changesOf } from './audit-rows.js';
import { isAudited } from './audited-act.js';

const APPS = join(import.meta.dirname, '../../..');

/** Every shape of every event that any service ever stored. */
const golden = globSync('*/src/**/__events__/*.json', { cwd: APPS }).map(
  (path): StoredEvent => JSON.parse(readFileSync(join(APPS, path), 'utf8')) as StoredEvent,
);

/** What the audit leaves out on purpose: consequences of an act that another event records, and the system's own work. */
const NOT_AUDITED = [
  'ActionsDone',
  'AgentCreationAbandoned',
  'AgentDeleted',
  'AgentFailed',
  'AgentRanOutOfMemory',
  'AgentRanUnseen',
  'AgentResized',
  'AgentStarted',
  'AgentStartedAnew',
  'AgentStopped',
  'AgentUnseen',
  'AgentVersionAbandoned',
  'AgentVersionAdopted',
  'AgentVersionPrepared',
  'ComputerDeleted',
  'ComputerFailed',
  'ComputerOfEndUserClaimed',
  'ComputerRanUnseen',
  'ComputerStarted',
  'ComputerUnseen',
  'DeploymentBuildStarted',
  'DeploymentBuilt',
  'DeploymentFailed',
  'DeploymentSucceeded',
  'EndUserErased',
  'ExecutionEnded',
  'ExecutionRerouted',
  'ExternalIdReleased',
  'ExternalIdTaken',
  'FeedbackReported',
  'FileChanged',
  'FileChanged.v2',
  'FiringEnded',
  'HostDrained',
  'HostJoined',
  'HostRemoved',
  'HostResumed',
  'InstallationBegun',
  'InstallationFinished',
  'KeyScopesExtended',
  'LlmCallFailed',
  'LlmCallRefused',
  'LlmCallReserved',
  'LlmCallSettled',
  'LlmSpendReserved',
  'LlmSpendSettled',
  'MessageAccepted',
  'MessageAnswered',
  'MessageFailed',
  'MessageRefused',
  'NameReleased',
  'NameReserved',
  'NameReserved.v2',
  'PlansRead',
  'PromptHandedOver',
  'RecipientGone',
  'ScheduleFired',
  'SchedulesForgotten',
  'SchedulesPublished',
  'ScreenshotsTaken',
  'ViewerSessionConnected',
  'ViewerSessionEnded',
  'WebhookAccepted',
  'WebhookAttemptFailed',
  'WebhookDelivered',
  'WebhookFailed',
  'WebhookTokenIssued',
];

let position = 0n;
const recorded = (
  { type, data }: StoredEvent,
  metadata: Partial<RecordedEvent['metadata']> = {},
  stream = 'agent-agt_1',
): RecordedEvent => ({
  id: crypto.randomUUID(),
  type,
  data,
  stream,
  revision: 0n,
  position: (position += 1n),
  createdAt: new Date('2026-11-23T08:00:00.000Z'),
  metadata: {
    correlationId: 'req_1',
    causationId: 'cmd_1',
    accountId: 'acc_1',
    actor: { kind: 'key', id: 'key_1' },
    ...metadata,
  },
});

const NO_AGENTS: ReadonlySet<string> = new Set();
const rowsOf = (...events: readonly RecordedEvent[]) => changesOf(events, NO_AGENTS).rows;
const actionOf = (event: RecordedEvent) => rowsOf(event)[0]?.action ?? null;
const agent = (type: string, data: object = {}, metadata: Partial<RecordedEvent['metadata']> = {}) =>
  recorded({ type, data: { agentId: 'agt_1', ...data } }, metadata);
const created = (owner: object) =>
  agent('AgentCreated.v2', { templateId: 'echo', name: 'ada', instructions: 'SECRET', ...owner });

describe('the events of all services', () => {
  it('are each either audited or left out on purpose', () => {
    expect(golden.length).toBeGreaterThan(30);
    const types = golden.map(({ type }) => type);
    expect(types.filter((type) => !isAudited(type)).sort()).toEqual([...NOT_AUDITED].sort());
  });

  it('give no row without a resource', () => {
    for (const row of golden.flatMap((stored) => rowsOf(recorded(stored))))
      expect(row.resource_id, row.action).not.toBe('');
  });
});

describe('an act', () => {
  it('names its actor, its request and its account', () => {
    expect(rowsOf(created({ externalUserId: null }))).toMatchObject([
      { account_id: 'acc_1', actor_kind: 'key', actor_id: 'key_1', request_id: 'req_1', outcome: 'ok' },
    ]);
    const own = { correlationId: 'cmd_1', actor: { kind: 'webhook', id: 'wht_1' } } as const;
    expect(rowsOf(agent('AgentDeletionRequested', {}, own))).toMatchObject([
      { actor_kind: 'system', actor_id: 'wht_1', request_id: null },
    ]);
  });

  it.each([
    ['AgentStarting.v2', { cause: 'start' }, 'cmd_1', 'agent.start'],
    ['AgentStarting.v2', { cause: 'restart' }, 'cmd_1', 'agent.restart'],
    ['AgentStarting.v2', { cause: 'wake' }, 'cmd_1', 'agent.start'],
    ['AgentStarting.v2', { cause: 'wake' }, 'cmd_1/wake:0', null],
    ['AgentStarting.v2', { cause: 'deploy' }, 'cmd_1', null],
    ['AgentStarting.v2', { cause: 'recover' }, 'agt_1/3/x', null],
    ['AgentStopping', { target: 'stopped' }, 'cmd_1', 'agent.stop'],
    ['AgentStopping', { target: 'sleeping' }, 'cmd_1', 'agent.sleep'],
    ['AgentStopping', { target: 'sleeping' }, 'cmd_1/stop', null],
    ['AgentStopping.v2', { target: 'sleeping' }, 'agt_1/3/suspended', 'agent.sleep'],
    ['AgentFellAsleep', { reason: 'requested' }, 'cmd_1', 'agent.sleep'],
    ['AgentFellAsleep', { reason: 'requested' }, 'agt_1/3/stopped', null],
    ['AgentFellAsleep', { reason: 'idle' }, 'cmd_1', null],
  ])('of %s %j by %s is %s', (type, data, causationId, action) => {
    expect(actionOf(agent(type, data, { causationId }))).toBe(action);
  });

  it('on an end user shows ids and scopes only', () => {
    const sealed = { endUserId: 'eus_1', accountId: 'acc_1', personal: { externalId: 'PRIVATE' } };
    const minted = { ...sealed, tokenId: 'tok_1', agentId: 'agt_1', scopes: ['chat'], expiresAt: 'later' };
    const of = (type: string, data: object) => rowsOf(recorded({ type, data: { ...data } }))[0];
    expect(of('EndUserCreated', sealed)).toMatchObject({
      action: 'end_user.create',
      resource_type: 'end_user',
      resource_id: 'eus_1',
      details: {},
    });
    expect(of('EndUserTokenMinted', minted)).toMatchObject({
      action: 'token.mint',
      resource_type: 'token',
      resource_id: 'tok_1',
      details: { endUserId: 'eus_1', agentId: 'agt_1', scopes: ['chat'], expiresAt: 'later' },
    });
    expect(of('EndUserTokensRevoked', { ...sealed, tokenIds: ['tok_1'] })).toMatchObject({
      action: 'token.revoke',
      resource_id: 'eus_1',
      details: { tokenIds: ['tok_1'] },
    });
  });

  it('of an operator is a grant of credits, in cents', () => {
    const data = { accountId: 'acc_1', amount: '-500000000', note: 'order 17', at: '' };
    expect(rowsOf(recorded({ type: 'CreditsGranted', data }))).toMatchObject([
      {
        action: 'credits.grant',
        resource_type: 'account',
        resource_id: 'acc_1',
        details: { cents: -500, note: 'order 17' },
      },
    ]);
  });

  it('of the system is a cap threshold that was reached, and it is about the end user', () => {
    const data = {
      endUserId: 'eus_1',
      cap: 'compute_minutes_cap',
      period: '2026-11-01',
      percent: 80,
      at: '',
    };
    const system = { correlationId: 'c', causationId: 'c', actor: { kind: 'system', id: 'agents' } } as const;
    expect(rowsOf(recorded({ type: 'CapThresholdReached', data }, system))).toMatchObject([
      {
        action: 'cap.threshold',
        actor_kind: 'system',
        resource_type: 'end_user',
        resource_id: 'eus_1',
        request_id: null,
        details: { cap: 'compute_minutes_cap', period: '2026-11-01', percent: 80 },
      },
    ]);
  });

  it('shows a command as its size and hash only', () => {
    const data = {
      executionId: 'exe_1',
      agentId: 'agt_1',
      commandBytes: 4,
      commandSha256: 'ab',
      command: 'SECRET',
      detached: false,
    };
    const [row] = rowsOf(recorded({ type: 'ExecutionSubmitted', data }, {}, 'execution-exe_1'));
    expect(row).toMatchObject({
      action: 'execution.submit',
      resource_type: 'execution',
      resource_id: 'exe_1',
      details: { agentId: 'agt_1', detached: false, commandBytes: 4, commandSha256: 'ab' },
    });
    expect(JSON.stringify(row)).not.toContain('SECRET');
  });

  it('of a file shows its outcome', () => {
    const stream = 'fileChange-fch_1';
    const data = { changeId: 'fch_1', agentId: 'agt_1', op: 'delete', path: '/data/x' };
    const changes = changesOf(
      [
        recorded({ type: 'FileChangeRequested', data }, {}, stream),
        recorded({ type: 'FileChangeRefused', data: { code: 'path_not_found' } }, {}, stream),
      ],
      NO_AGENTS,
    );
    expect(changes.rows).toMatchObject([{ action: 'file.delete', stream, outcome: 'ok' }]);
    expect(changes.outcomes).toEqual([{ stream, outcome: 'refused', code: 'path_not_found' }]);
  });
});

describe('names and paths', () => {
  const inTheClear = (data: object) => ({ personal: { endUserId: null, data } });
  const path = agent('FileChangeRequested', { op: 'write', path: '/data/PRIVATE' });
  const currentPath = agent('FileChangeRequested.v2', {
    op: 'write',
    ...inTheClear({ path: '/data/PRIVATE' }),
  });
  const key = agent('EnvVarSet', { key: 'PRIVATE', isSecret: false });
  const currentKey = agent('EnvVarSet.v2', {
    isSecret: false,
    variable: { endUserId: null, data: 'PRIVATE' },
  });

  it('are shown for an agent without an end user, however its events are batched', () => {
    const creation = created({ externalUserId: null });
    const together = changesOf([creation, path, key], NO_AGENTS);
    expect(together.rows.map(({ details }) => details)).toEqual([
      { templateId: 'echo', name: 'ada' },
      { path: '/data/PRIVATE' },
      { isSecret: false, key: 'PRIVATE' },
    ]);
    const current = agent('AgentCreated.v3', {
      templateId: 'echo',
      ...inTheClear({ name: 'ada', externalUserId: null }),
    });
    expect(
      changesOf([current, currentPath, currentKey], NO_AGENTS).rows.map(({ details }) => details),
    ).toEqual(together.rows.map(({ details }) => details));
    const first = changesOf([creation], NO_AGENTS);
    const second = changesOf([path, key], new Set(first.ownAgents));
    expect([...first.rows, ...second.rows]).toEqual(together.rows);
  });

  it.each([
    ['an end user', { externalUserId: 'user-7', name: 'PRIVATE' }],
    ['an end user of a later version', { externalUserId: null, endUserId: 'eus_1', name: 'PRIVATE' }],
    ['an end user with a key', { personal: { endUserId: 'eus_1', sealed: 'p.SEALED' } }],
    [
      'an end user from before it had a key',
      { personal: { endUserId: null, data: { externalUserId: 'user-7', name: 'PRIVATE' } } },
    ],
    ['an owner in an unknown shape', { name: 'PRIVATE' }],
    ['an owner in an unknown shape of a later version', { personal: { name: 'PRIVATE' } }],
  ])('are not kept for the agent of %s', (_, owner) => {
    const { rows } = changesOf([created(owner), path, key], NO_AGENTS);
    expect(rows.map(({ details }) => details)).toEqual([
      { templateId: 'echo', name: null },
      { path: null },
      { isSecret: false, key: null },
    ]);
    expect(JSON.stringify(rows)).not.toContain('PRIVATE');
  });

  it('never include instructions, values or messages', () => {
    expect(JSON.stringify(rowsOf(created({ externalUserId: null })))).not.toContain('SECRET');
  });
});
