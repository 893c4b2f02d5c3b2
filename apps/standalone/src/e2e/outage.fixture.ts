import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@berth/testing';
import { expect } from 'vitest';
import type { ApiResponse, Api } from './api.fixture.js';

/** The contract's bounds: a response while a part is unavailable, and full recovery after its return. */
export const RESPONSE_WITHIN_MS = 5_000;
export const RECOVERED_WITHIN_MS = 30_000;
/** Every creation starts a process, so a faster client would itself overload the machine. */
const ROUND_EVERY_MS = 1_000;

/** One call with its response. */
interface Observed {
  readonly call: string;
  readonly millis: number;
  readonly response: ApiResponse;
}

const observe = async (call: string, work: () => Promise<ApiResponse>): Promise<Observed> => {
  const begun = performance.now();
  const response = await work();
  return { call, millis: Math.round(performance.now() - begun), response };
};

/** Expects the usual response, or a 503 that permits a retry; both in time. */
const expectInTime = ({ call, millis, response }: Observed, usual: number): void => {
  const { status, headers, body } = response;
  const description = `${call}: ${String(status)} after ${String(millis)} ms, ${JSON.stringify(body)}`;
  expect([usual, 503], description).toContain(status);
  expect(millis, description).toBeLessThan(RESPONSE_WITHIN_MS);
  if (status !== 503) return;
  expect(body, description).toMatchObject({
    detail: { code: expect.stringMatching(/^(service|agent)_unavailable$/), message: expect.any(String) },
  });
  expect(Number(headers.get('retry-after')), description).toBeGreaterThanOrEqual(1);
};

/** A client that repeats calls for one agent and its account, and records the accepted results. */
export class Client {
  /** Agents whose creation returned 201. */
  readonly created: string[] = [];
  /** Creations that returned 503: their outcome is open. */
  readonly open: { readonly name: string; readonly key: string }[] = [];

  constructor(
    private readonly api: Api,
    private readonly agentId: string,
  ) {}

  /** One round of concurrent calls. */
  async round(): Promise<void> {
    const { api, agentId } = this;
    const name = `outage ${crypto.randomUUID()}`;
    const key = crypto.randomUUID();
    const calls = [
      observe('get', () => api.get(`/api/agents/${agentId}`)),
      observe('list', () => api.get('/api/agents?limit=5')),
      observe('chat', () => api.post(`/api/agents/${agentId}/chat`, { message: 'pid' })),
      observe('create', () => this.#create(name, key)),
    ];
    for (const call of await Promise.all(calls)) {
      expectInTime(call, call.call === 'create' ? 201 : 200);
      if (call.call !== 'create') continue;
      if (call.response.status === 201) this.created.push(String(call.response.body['id']));
      else this.open.push({ name, key });
    }
  }

  /** Creates agents at once. */
  async creations(count: number): Promise<void> {
    const calls = Array.from({ length: count }, () => {
      const name = `outage ${crypto.randomUUID()}`;
      return observe('create', () => this.#create(name, crypto.randomUUID()));
    });
    for (const call of await Promise.all(calls)) expectInTime(call, 201);
  }

  /** Repeats rounds until the work is done, at least one. */
  async roundsDuring(work: Promise<unknown>): Promise<void> {
    let over = false;
    const ended = work.finally(() => (over = true));
    while (!over) {
      await this.round();
      await Promise.race([ended, sleep(ROUND_EVERY_MS)]);
    }
    await ended;
  }

  /** Repeats rounds until the outage is over; expects recovery from then on. */
  async recoveryAfter(outage: Promise<unknown>): Promise<void> {
    await this.roundsDuring(outage);
    await this.expectRecovery();
  }

  /**
   * Expects within 30 s: chat works, nothing acknowledged is missing, open creations can be retried, nothing is
   * half-done.
   */
  async expectRecovery(): Promise<void> {
    const { api, agentId } = this;
    const options = { timeoutMs: RECOVERED_WITHIN_MS, intervalMs: 100 };
    const begun = Date.now();
    await eventually(
      async () => expect(await api.chat(agentId, 'pid')).toMatchObject({ status: 200 }),
      options,
    );
    await eventually(
      async () => expect(await api.get('/health')).toMatchObject({ status: 200, body: { status: 'ok' } }),
      options,
    );
    for (const { name, key } of this.open)
      this.created.push(await eventually(() => this.#repeated(name, key), options));
    await Promise.all(this.created.map((id) => api.inState(id, 'running')));
    expect(Date.now() - begun).toBeLessThan(RECOVERED_WITHIN_MS);
    await Promise.all(this.created.map((id) => api.call('DELETE', `/api/agents/${id}`)));
  }

  /** Creates it, or finds that it was created despite the 503. */
  async #repeated(name: string, key: string): Promise<string> {
    const { status, body } = await this.#create(name, key);
    const { detail } = body as { detail?: { agentId?: string } };
    const id = status === 201 ? String(body['id']) : (detail?.agentId ?? '');
    expect(
      await this.api.get(`/api/agents/${id}`),
      `${String(status)} ${JSON.stringify(body)}`,
    ).toMatchObject({ status: 200, body: { name } });
    return id;
  }

  #create(name: string, key: string): Promise<ApiResponse> {
    return this.api.post(
      '/api/agents',
      { name, templateId: 'blank' },
      { headers: { 'idempotency-key': key } },
    );
  }
}
