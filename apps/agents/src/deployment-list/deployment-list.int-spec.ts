import { EventStreams, connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { Dice, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentDecider } from '../agent/agent.decider.js';
import { agentCodec } from '../agent/agent.events.js';
import { deploymentDecider, type DeploymentCommand } from '../deployment/deployment.decider.js';
import { deploymentCodec } from '../deployment/deployment.events.js';
import { profile } from '../fixtures/memory-agents.fixture.js';
import { deploymentListProjection } from './deployment-list.projection.js';

const log = createLogger({ service: 'test', level: 'silent' });
const origin = (commandId: string) =>
  ({ commandId, accountId: 'acc_1', actor: { kind: 'system', id: 'test' } }) as const;
const at = '2026-11-22T10:00:00.000Z';

describe('the list of deployments', () => {
  let infra: TestInfra;
  let database: Database;
  let store: EventStore;
  let runner: ProjectionRunner;
  const supervisor = new Supervisor('test', log);

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'agents',
      migrations: [],
      applicationName: 'deployment-list-test',
      log,
    });
    store = connectEventStore({ url: infra.eventStoreUrl, log });
    runner = new ProjectionRunner({ store, database, projection: deploymentListProjection, log });
    supervisor.start('projection', (signal) => runner.run(signal));
    await runner.untilCaughtUp();
  });

  afterAll(async () => {
    await supervisor.stop();
    await Promise.all([store.close(), database.close()]);
    await infra.stop();
  });

  const rows = (): Promise<{ agent_id: string; status: string }[]> =>
    database.query('SELECT * FROM deployment_list ORDER BY id');

  it('has the same rows after a rebuild as before, and none of deleted agents', async () => {
    const dice = new Dice(20_261_122);
    const deployments = new EventStreams({ store, decider: deploymentDecider, codec: deploymentCodec });
    const agents = new EventStreams({ store, decider: agentDecider, codec: agentCodec });
    const agentIds = Array.from({ length: 3 }, () => newId('agt'));
    const steps: readonly DeploymentCommand[] = [
      { type: 'BeginBuild', host: 'hst_1', at },
      { type: 'FinishBuild', code: { branch: 'main', commit: 'c1' }, at },
      { type: 'Fail', code: 'build_failed', message: 'It broke.', at },
      { type: 'Succeed', at },
      { type: 'Supersede', at },
    ];
    let last = 0n;
    for (let n = 0; n < 60; n++) {
      const deploymentId = newId('dep');
      const agentId = agentIds[dice.between(0, 2)] ?? '';
      const source = {
        kind: 'git',
        repoUrl: 'https://x.org/y',
        addresses: [],
        branch: null,
        tokenEnv: null,
      } as const;
      const request = {
        type: 'Request',
        deploymentId,
        agentId,
        accountId: 'acc_1',
        origin: source,
        at,
      } as const;
      const history = [request, ...steps.filter(() => dice.percent(50))];
      for (const command of history)
        last = (await deployments.handle(deploymentId, command, origin(newId('cmd')))).position ?? last;
    }
    const [deleted = ''] = agentIds;
    for (const command of [
      { type: 'Create', agentId: deleted, profile, host: 'hst_1', attempt: 0, at },
      { type: 'RequestDeletion', at },
      { type: 'ConfirmDeleted', at },
    ] as const)
      last = (await agents.handle(deleted, command, origin(newId('cmd')))).position ?? last;
    expect(await runner.waitFor(last, 10_000)).toBe(true);
    const before = await rows();
    expect(new Set(before.map(({ agent_id }) => agent_id))).toEqual(new Set(agentIds.slice(1)));
    expect(new Set(before.map(({ status }) => status))).toEqual(
      new Set(['queued', 'building', 'succeeded', 'failed']),
    );
    await runner.rebuild(() => undefined, new AbortController().signal);
    expect(await rows()).toEqual(before);
  });
});
