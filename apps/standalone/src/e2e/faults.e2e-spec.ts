import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { describeMalformedRequests } from './malformed-requests.suite.js';
import { Client, RECOVERED_WITHIN_MS } from './outage.fixture.js';
import {
  guestOf,
  pidOfPart,
  programOf,
  runningPart,
  signalAll,
  treeOf,
  type PartName,
} from './processes.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import { describeRecount } from './recount.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';
import { Webhook } from './webhooks.fixture.js';

const KILLED_FOR_MS = 3_000;
const FROZEN_FOR_MS = 8_000;
const PARTS: readonly PartName[] = ['nats', 'event-store', 'postgres'];
/** Without the event log some requests still work. */
const HEALTH_WITHOUT = { nats: 'unavailable', 'event-store': 'degraded', postgres: 'unavailable' } as const;

const folder = temporaryFolder();
let stack: StandaloneStack;
const api = new Api(() => stack);

beforeAll(async () => {
  stack = await startStandaloneStack(folder.path);
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

const kill = (part: PartName): void => signalAll([runningPart(folder.path, part)], 'SIGKILL');

/** The part is restarted immediately, so only killing it repeatedly makes it unavailable for a while. */
const keepKilled = async (part: PartName): Promise<void> => {
  for (const end = Date.now() + KILLED_FOR_MS; Date.now() < end;) {
    const pid = pidOfPart(folder.path, part);
    if (pid !== undefined) signalAll([pid], 'SIGKILL');
    await sleep(20);
  }
};

/** Hanging is worse than dying: connections stay open and get no response. */
const freeze = async (part: PartName): Promise<void> => {
  const pids = treeOf(runningPart(folder.path, part));
  signalAll(pids, 'SIGSTOP');
  const over = sleep(FROZEN_FOR_MS);
  try {
    const status = HEALTH_WITHOUT[part];
    await eventually(async () => expect((await api.get('/health')).body).toMatchObject({ status }), {
      timeoutMs: FROZEN_FOR_MS,
    });
    await over;
  } finally {
    signalAll(pids, 'SIGCONT');
  }
};

/** What schedules and webhooks send to a new agent. */
class Sent {
  readonly #own: AgentSchedules;
  readonly #webhooks = [1, 2, 3].map((n) => `posted ${String(n)}`);
  readonly #prompts = [1, 2, 3].map((n) => `scheduled ${String(n)}`);

  private constructor(private readonly hook: Webhook) {
    this.#own = new AgentSchedules(api, hook.agentId);
  }

  static async prepare(): Promise<Sent> {
    return new Sent(await Webhook.ofProbe(() => stack, api));
  }

  /** For the next seconds. */
  async schedule(): Promise<void> {
    const nextRunAt = (index: number): string => fromNow(3_000 + index * 1_000);
    await this.#own.publish(
      ...this.#prompts.map((prompt, index) => ({ id: prompt, nextRunAt: nextRunAt(index), prompt })),
    );
  }

  /** Invokes the webhook until each call is accepted. */
  async post(): Promise<void> {
    const { hook } = this;
    const responses = await Promise.all(this.#webhooks.map((message) => hook.invokeUntilServed(message)));
    expect(responses.map(({ status }) => status)).toEqual([202, 202, 202]);
    for (const { body } of responses)
      expect(await hook.ended(body.deliveryId)).toMatchObject({ status: 'delivered' });
  }

  async expectOnce(): Promise<void> {
    const { hook } = this;
    await eventually(
      async () => {
        const { items } = (await this.#own.list()).body;
        expect(items.map(({ lastRunAt, lastError }) => [lastRunAt === null, lastError])).toEqual(
          this.#prompts.map(() => [false, null]),
        );
        expect((await hook.received()).length).toBeGreaterThanOrEqual(2 * this.#prompts.length);
      },
      { timeoutMs: RECOVERED_WITHIN_MS },
    );
    const received = (await hook.received()).map(({ message }) => String(message));
    expect(received.toSorted()).toEqual([...this.#webhooks, ...this.#prompts]);
  }
}

describe.each(PARTS)('%s', (part) => {
  let agentId: string;
  let idleId: string;
  let before: unknown;

  beforeAll(async () => {
    const [agent, idle] = await Promise.all([
      api.runningAgent({ templateId: 'probe' }),
      api.runningAgent({ idleTtlSeconds: 15 }),
    ]);
    [agentId, idleId] = [agent.id, idle.id];
    before = (await api.chat(agentId, 'pid')).body;
  });

  it('killed: calls end in time, nothing acknowledged is lost, and each due schedule and each webhook reaches the agent once', async () => {
    const client = new Client(api, agentId);
    const sent = await Sent.prepare();
    await sent.schedule();
    await Promise.all([client.recoveryAfter(keepKilled(part)), sent.post()]);
    expect((await api.chat(agentId, 'pid')).body).toEqual(before);
    await sent.expectOnce();
  }, 120_000);

  it('frozen while an agent falls asleep: calls end in time, /health reports it, nothing is left half-done, and each due schedule and each webhook reaches the agent once', async () => {
    const client = new Client(api, agentId);
    const sent = await Sent.prepare();
    await eventually(
      async () => {
        const { sleepAt } = (await api.get(`/api/agents/${idleId}`)).body as { sleepAt: string | null };
        return sleepAt === null || Date.parse(sleepAt) - Date.now() < 2_000;
      },
      { timeoutMs: 20_000, intervalMs: 100 },
    );
    await sent.schedule();
    await Promise.all([client.recoveryAfter(freeze(part)), sent.post()]);
    expect((await api.chat(agentId, 'pid')).body).toEqual(before);
    await api.inState(idleId, 'sleeping', RECOVERED_WITHIN_MS);
    expect((await api.chat(idleId, 'awake?')).body.response).toContain('awake?');
    await sent.expectOnce();
  }, 120_000);
});

describe('the log frozen', () => {
  it('while 20 agents are created at once: each call ends in time', async () => {
    const { id } = await api.runningAgent();
    const over = freeze('event-store');
    await new Client(api, id).creations(20);
    await over;
    await eventually(async () => expect((await api.chat(id, 'back?')).status).toBe(200), {
      timeoutMs: RECOVERED_WITHIN_MS,
    });
  });
});

describe('the broker killed right after an event', () => {
  it('still reaches its consumers: the conversations of a deleted agent are removed', async () => {
    const other = await api.runningAgent();
    const { id } = await api.runningAgent();
    expect((await api.chat(id, 'remember me')).status).toBe(200);
    const conversations = async (): Promise<number> =>
      (await queryTables(folder.path, 'SELECT 1 FROM delivery.conversation WHERE agent_id = $1', [id]))
        .length;
    expect(await conversations()).toBe(1);
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
    kill('nats');
    await eventually(async () => expect(await conversations()).toBe(0), {
      timeoutMs: RECOVERED_WITHIN_MS,
      intervalMs: 100,
    });
    await eventually(async () => expect((await api.chat(other.id, 'and you?')).status).toBe(200), {
      timeoutMs: RECOVERED_WITHIN_MS,
      intervalMs: 100,
    });
  });
});

describe.each([
  ['guest', guestOf],
  ['program', programOf],
] as const)("an agent's %s killed", (_, find) => {
  const killIt = (id: string): void => {
    const pid = find(id);
    if (pid === undefined) throw new Error('The process does not exist.');
    signalAll([pid], 'SIGKILL');
  };

  it('while it is awake: the agent recovers and responds to chats', async () => {
    const { id } = await api.runningAgent();
    killIt(id);
    await eventually(async () => expect((await api.chat(id, 'back?')).body.response).toContain('back?'), {
      timeoutMs: RECOVERED_WITHIN_MS,
    });
    expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('running');
  });

  it('while it sleeps warm: a chat wakes the agent and gets a response', async () => {
    const { id } = await api.runningAgent();
    expect((await api.post(`/api/agents/${id}/sleep`)).body).toMatchObject({
      state: 'sleeping',
      sleepDepth: 'warm',
    });
    killIt(id);
    await eventually(async () => expect((await api.chat(id, 'back?')).body.response).toContain('back?'), {
      timeoutMs: RECOVERED_WITHIN_MS,
    });
    expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('running');
  });

  it('during a chat: the caller gets an error, and the next message gets a response', async () => {
    const { id } = await api.runningAgent({ templateId: 'probe' });
    const begun = Date.now();
    const chat = api.chat(id, 'slow 60000');
    await eventually(async () =>
      expect(
        (await api.post(`/api/agents/${id}/chat`, { message: 'most', conversation_id: 'other' })).body[
          'response'
        ],
      ).toBe('1'),
    );
    killIt(id);
    expect([502, 503]).toContain((await chat).status);
    expect(Date.now() - begun).toBeLessThan(RECOVERED_WITHIN_MS);
    await eventually(async () => expect((await api.chat(id, 'pid')).status).toBe(200), {
      timeoutMs: RECOVERED_WITHIN_MS,
    });
  });
});

describe('a caller that disconnects during a chat', () => {
  it('cancels nothing, and the next message is delivered after it', async () => {
    const { id } = await api.runningAgent({ templateId: 'probe' });
    const { conversation_id } = (await api.chat(id, 'pid')).body;
    const gone = new AbortController();
    const hungUp = api.chat(id, 'slow 1500', { signal: gone.signal }).catch((error: unknown) => error);
    await eventually(async () =>
      expect(
        (await api.post(`/api/agents/${id}/chat`, { message: 'most', conversation_id: 'other' })).body[
          'response'
        ],
      ).toBe('1'),
    );
    gone.abort();
    expect(await hungUp).toBeInstanceOf(Error);
    const next = await api.post(`/api/agents/${id}/chat`, { message: 'slow 1', conversation_id });
    expect(next.body['response']).toBe('slept 1');
    // Had the first chat been cancelled for the agent too, the agent would have handled two messages at once.
    expect((await api.chat(id, 'most')).body.response).toBe('1');
  });
});

describeMalformedRequests(() => stack);
describeRecount(() => stack);
