import { eventually } from '@berth/testing';
import { expect } from 'vitest';
import type { Api } from './api.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

export interface Invocation {
  /** In the header. */
  readonly token?: string;
  /** After the path, with its question mark. */
  readonly query?: string;
  readonly type?: string | null;
  readonly headers?: Record<string, string>;
  readonly gateway?: number;
}

export interface InvokeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly deliveryId: string;
    readonly detail: { readonly code: string };
  } & Record<string, unknown>;
}

export interface ListedDelivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly deliveredAt: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly bytes: number;
}

/** The webhook of one agent, as its callers and its owner see it. */
export class Webhook {
  constructor(
    private readonly stack: () => Stack,
    private readonly api: Api,
    readonly agentId: string,
  ) {}

  /** The webhook of a new agent that stores the messages it receives in its volume. */
  static async ofProbe(stack: () => Stack, api: Api, more: object = {}): Promise<Webhook> {
    return new Webhook(stack, api, (await api.runningAgent({ templateId: 'probe', ...more })).id);
  }

  get path(): string {
    return `/api/webhooks/${this.agentId}`;
  }

  async invoke(body: string | Uint8Array<ArrayBuffer> | null, how: Invocation = {}): Promise<InvokeResponse> {
    const { token, query = '', type = 'text/plain', headers = {}, gateway = 0 } = how;
    const response = await fetch(`${this.stack().urls[gateway] ?? ''}${this.path}${query}`, {
      method: 'POST',
      body: typeof body === 'string' ? Buffer.from(body) : body,
      headers: {
        ...(type === null ? {} : { 'content-type': type }),
        ...(token === undefined ? {} : { 'x-service-webhook-token': token }),
        ...headers,
      },
    });
    const { status, headers: responseHeaders } = response;
    return { status, headers: responseHeaders, body: (await response.json()) as InvokeResponse['body'] };
  }

  /** Like `invoke`, but repeats the call while an overload causes 503; all attempts count as one call. */
  async invokeUntilServed(body: string, how: Invocation = {}): Promise<InvokeResponse> {
    const headers = { ...how.headers, 'idempotency-key': crypto.randomUUID() };
    return eventually(
      async () => {
        const response = await this.invoke(body, { ...how, headers });
        if (response.status === 503) throw new Error('The service is not available.');
        return response;
      },
      { timeoutMs: 30_000 },
    );
  }

  /** Invokes it and returns the id of the delivery. */
  async accepted(body: string | Uint8Array<ArrayBuffer> | null, how: Invocation = {}): Promise<string> {
    const { status, body: answer } = await this.invoke(body, how);
    expect([status, answer]).toMatchObject([
      202,
      { accepted: true, agentId: this.agentId, status: 'queued' },
    ]);
    return answer.deliveryId;
  }

  async deliveries(query = 'limit=200', gateway = 0): Promise<readonly ListedDelivery[]> {
    const path = `${this.path}/deliveries?${query}`;
    return (await this.api.get<{ items: readonly ListedDelivery[] }>(path, { gateway })).body.items;
  }

  /** The delivery once it has ended. */
  ended(deliveryId: string): Promise<ListedDelivery> {
    return eventually(
      async () => {
        const found = (await this.deliveries()).find(({ id }) => id === deliveryId);
        if (found === undefined || found.status === 'queued')
          throw new Error(`${deliveryId} has not ended: ${JSON.stringify(found)}`);
        return found;
      },
      { timeoutMs: 60_000, intervalMs: 100 },
    );
  }

  async token(gateway = 0): Promise<{ token: string; url: string; createdAt: string }> {
    const { status, body } = await this.api.get<{ token: string; url: string; createdAt: string }>(
      `${this.path}/token`,
      { gateway },
    );
    expect(status).toBe(200);
    return body;
  }

  rotate(gateway = 0) {
    return this.api.post<{ token: string }>(`${this.path}/token/rotate`, undefined, { gateway });
  }

  /** Returns the messages that the probe has received, oldest first. Wakes it. */
  async received(): Promise<readonly Record<string, unknown>[]> {
    const { bytes } = await new Files(this.stack, this.agentId).download('received');
    return bytes
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}
