import { randomUUID } from 'node:crypto';
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';

const AT_A_TIME = 64;
const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;
const WAKES = 10;
const ACCOUNT = 'acc_01jd0000000000000000000000';

/**
 * Writes a year of so many agents: each is created and wakes ten times, every five weeks, for a day and a half. The wakes
 * of all agents are interleaved as in a real log, so that neighbouring streams are of different agents.
 */
export const fillYear = async (client: EventStoreDBClient, agents: number): Promise<void> => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const ids = Array.from({ length: agents }, () => `agt_${randomUUID()}`);
  for (let wake = 0; wake < WAKES; wake++) {
    const begun = today - (YEAR_DAYS - (wake * YEAR_DAYS) / WAKES) * DAY_MS;
    const left = ids.entries();
    const worker = async (): Promise<void> => {
      for (const [n, agentId] of left) {
        const at = begun + (n / agents) * DAY_MS;
        const events = [...(wake === 0 ? [created(agentId, at)] : []), ...awake(agentId, at, wake + 1)];
        await client.appendToStream(`agent-${agentId}`, events, {
          expectedRevision: wake === 0 ? 'no_stream' : 'any',
          credentials: { username: 'bench', password: 'bench' },
        });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  }
};

const created = (agentId: string, at: number) =>
  newEvent('AgentCreated.v3', agentId, at, {
    resources: { vcpus: 0.5, memMb: 512, diskGb: 2 },
    personal: { endUserId: null, data: { name: agentId, externalId: null, externalUserId: null } },
  });

const awake = (agentId: string, at: number, epoch: number) => [
  newEvent('AgentStarting.v2', agentId, at, { epoch, cause: 'wake' }),
  newEvent('AgentStarted', agentId, at + 500, { epoch }),
  newEvent('AgentFellAsleep', agentId, at + 1.5 * DAY_MS, { epoch, depth: 'cold', reason: 'idle' }),
];

const newEvent = (type: string, agentId: string, at: number, data: object): ReturnType<typeof jsonEvent> =>
  jsonEvent({
    id: randomUUID(),
    type,
    data: { agentId, at: new Date(at).toISOString(), ...data },
    metadata: {
      correlationId: 'req_01jd0000000000000000000000',
      causationId: `cmd_${randomUUID()}`,
      accountId: ACCOUNT,
      actor: { kind: 'system', id: 'bench' },
    },
  });
