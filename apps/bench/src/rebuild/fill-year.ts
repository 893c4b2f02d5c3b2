import { randomUUID } from 'node:crypto';
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';

const AT_A_TIME = 64;
const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;
const WAKES = 10;
/** The wakes of an agent that are written together. */
const WAKES_AT_ONCE = 2;
const ACCOUNT = 'acc_01jd0000000000000000000000';

/**
 * Writes a year of so many agents: each is created and wakes ten times, every five weeks, for a day and a half. The wakes
 * of all agents are interleaved as in a real log, so that neighbouring streams are of different agents.
 */
export const fillYear = async (client: EventStoreDBClient, agents: number): Promise<void> => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const ids = Array.from({ length: agents }, () => `agt_${randomUUID()}`);
  for (let first = 0; first < WAKES; first += WAKES_AT_ONCE) {
    const left = ids.entries();
    const worker = async (): Promise<void> => {
      for (const [n, agentId] of left) {
        const events = Array.from({ length: WAKES_AT_ONCE }, (_, wake) => {
          const daysAgo = YEAR_DAYS - ((first + wake) * YEAR_DAYS) / WAKES - n / agents;
          return awake(agentId, today - daysAgo * DAY_MS, first + wake + 1);
        }).flat();
        // Without credentials, the client sends all appends on one call.
        await client.appendToStream(`agent-${agentId}`, events, {
          expectedRevision: first === 0 ? 'no_stream' : 'any',
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
  ...(epoch === 1 ? [created(agentId, at)] : []),
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
