import { eventually } from '@berth/testing';
import type { Stack } from './stack.fixture.js';

export interface ApiResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  /** The index of the gateway. */
  readonly gateway?: number;
  readonly signal?: AbortSignal;
}

/** An API consumer: plain HTTP with a key. */
export class Api {
  constructor(private readonly stack: () => Stack) {}

  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<ApiResponse<Body>> {
    const { urls, key } = this.stack();
    const bearer = options.key === undefined ? key : options.key;
    const response = await fetch(`${urls[options.gateway ?? 0] ?? ''}${path}`, {
      method,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: (json ? JSON.parse(text) : { text }) as Body,
    };
  }

  get<Body = Record<string, unknown>>(path: string, options: CallOptions = {}): Promise<ApiResponse<Body>> {
    return this.call<Body>('GET', path, options);
  }

  post<Body = Record<string, unknown>>(
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<ApiResponse<Body>> {
    return this.call<Body>('POST', path, { ...options, ...(body === undefined ? {} : { body }) });
  }

  /** Creates an agent and returns it once it runs. Throws with the agent if it does not. */
  async runningAgent(more: Record<string, unknown> = {}): Promise<{ id: string; name: string }> {
    const name = `agent ${crypto.randomUUID().slice(0, 8)}`;
    const created = await this.post<{ id: string }>('/api/agents', { name, templateId: 'echo', ...more });
    if (created.status !== 201)
      throw new Error(`The create returned ${String(created.status)}: ${JSON.stringify(created.body)}`);
    await this.inState(created.body.id, 'running');
    return { id: created.body.id, name };
  }

  /** Polls the API until the agent is in the state. */
  async inState(agentId: string, state: string, timeoutMs = 30_000): Promise<Record<string, unknown>> {
    return await eventually(
      async () => {
        const { body } = await this.get(`/api/agents/${agentId}?wait=${state}&timeout=5`);
        if (body['state'] !== state)
          throw new Error(`The agent is not ${state} but ${JSON.stringify(body)}.`);
        return body;
      },
      { timeoutMs },
    );
  }

  chat(
    agentId: string,
    message: string,
    options: CallOptions = {},
  ): Promise<ApiResponse<{ response: string; conversation_id: string; detail: { code: string } }>> {
    return this.post(`/api/agents/${agentId}/chat`, { message }, options);
  }
}

/** The `detail.code` of an error response. */
export const codeOf = (response: ApiResponse): unknown => {
  const { detail } = response.body;
  return typeof detail === 'object' && detail !== null && 'code' in detail ? detail.code : undefined;
};
