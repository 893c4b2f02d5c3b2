import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually } from '@berth/testing';
import { FakeUpstream, UPSTREAM_KEY, type Dialect } from '@berth/testing/upstream';
import type { Api } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Each test that makes the upstream faulty has a model of its own, so that tests can run side by side. */
const MODELS: Readonly<Record<string, Dialect>> = {
  gpt: 'openai',
  claude: 'anthropic',
  capped: 'openai',
  silent: 'openai',
  dear: 'openai',
  broken: 'openai',
  'early-break': 'openai',
  redirecting: 'openai',
  'error-in-200': 'openai',
  unauthorized: 'openai',
  overloaded: 'openai',
  left: 'openai',
  slow: 'openai',
  killed: 'openai',
  drained: 'openai',
  shown: 'openai',
  bounded: 'openai',
  afforded: 'openai',
  paid: 'openai',
  flooded: 'openai',
  'late-error': 'openai',
  'parts-of-price': 'openai',
  'claude-shown': 'anthropic',
  'claude-parts': 'anthropic',
  'claude-broken': 'anthropic',
};

/** The names of the models of a dialect, in the order of the operator's file. */
export const modelsOf = (dialect: Dialect): readonly string[] =>
  Object.keys(MODELS).filter((name) => MODELS[name] === dialect);

/** A token of input costs 0.001 cents, one of output 0.002; of some models, parts of them have rates of their own. */
const rates = 'inputCentsPerMillion: 1000, outputCentsPerMillion: 2000';
const PARTS =
  ', cachedInputCentsPerMillion: 100, cacheWriteCentsPerMillion: 1250, reasoningCentsPerMillion: 3000';
const ADDED: Readonly<Record<string, string>> = {
  'parts-of-price': PARTS,
  'claude-parts': PARTS,
  'claude-shown': ', allowedBetas: [allowed-beta]',
};
export const centsOf = (input: number, output: number): number => (input + 2 * output) / 1000;

const fileFor = (url: string): string => `llm:
  providers:
    - { id: openai, dialect: openai, baseUrl: "${url}/v1", apiKeyEnv: UPSTREAM_KEY, insecure: true }
    - { id: anthropic, dialect: anthropic, baseUrl: "${url}/v1", apiKeyEnv: UPSTREAM_KEY, insecure: true }
  models:
${Object.entries(MODELS)
  .map(
    ([name, dialect]) =>
      `    - { name: ${name}, provider: ${dialect}, ${rates}${ADDED[name] ?? ''}, contextTokens: 100000, maxOutputTokens: 1000 }`,
  )
  .join('\n')}
  defaultModel: gpt
`;

/**
 * Starts an upstream, and names its models in the operator's file of an installation that is about to start.
 * `reachedAs`: by what name containers reach this machine; by default only programs on it reach the upstream.
 */
export const provideModels = async (
  dataDir: string,
  reachedAs?: string,
): Promise<{ readonly upstream: FakeUpstream; readonly env: Env }> => {
  const upstream = await FakeUpstream.start(reachedAs === undefined ? {} : { host: '0.0.0.0' });
  const url = reachedAs === undefined ? upstream.url : upstream.url.replace('127.0.0.1', reachedAs);
  writeFileSync(join(dataDir, 'berth.yaml'), fileFor(url));
  return { upstream, env: { UPSTREAM_KEY } };
};

/** A row of `GET /api/v1/llm-calls`. */
export interface ListedCall {
  readonly id: string;
  readonly model: string;
  readonly status: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costCents: number;
  readonly reservedCents: number;
}

export interface LlmReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type CallBody = Readonly<Record<string, unknown>> & { readonly model: string };

export interface LlmRequest {
  /** Null: GET. A function makes a stream, whose length is not said. */
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** In place of that of the agent; null: none. */
  readonly token?: string | null;
}

const ATTEMPTS = 20;

/** Calls models with the token of one agent, as its program does. */
export class LlmAgent {
  private constructor(
    private readonly api: Api,
    private readonly stack: () => Stack,
    readonly agentId: string,
    private readonly token: string,
  ) {}

  /** `key` is one of the agent's account; default: the first account's. */
  static async of(api: Api, stack: () => Stack, agentId: string, key?: string): Promise<LlmAgent> {
    const options = key === undefined ? {} : { key };
    const { body } = await new Executions(api, agentId).run('printf %s "$OPENAI_API_KEY"', {}, options);
    return new LlmAgent(api, stack, agentId, body.stdout);
  }

  /**
   * `path` is that below `/agent/v1/llm/`. Sends a request again that was 503, as a busy machine may answer: it has not
   * begun. Throws if the connection is lost.
   */
  async request(path: string, request: LlmRequest): Promise<LlmReply> {
    for (let attempt = 1; ; attempt++) {
      const reply = await this.requestOnce(path, request);
      if (reply.status !== 503 || attempt === ATTEMPTS) return reply;
    }
  }

  /** The reply to a call, and its row once it is over. */
  async over(
    path: string,
    request: LlmRequest & { readonly body: CallBody },
  ): Promise<{ readonly reply: LlmReply; readonly call: ListedCall }> {
    const { model } = request.body;
    const before = (await this.calls(model)).length;
    const reply = await this.request(path, request);
    const call = await eventually(
      async () => {
        const [newest, ...earlier] = await this.calls(model);
        if (newest === undefined || earlier.length < before || newest.status === 'open')
          throw new Error(
            `The last of ${String(earlier.length + 1)} calls is ${newest?.status ?? 'missing'}.`,
          );
        return newest;
      },
      { timeoutMs: 60_000, intervalMs: 100 },
    );
    return { reply, call };
  }

  private async requestOnce(
    path: string,
    { body, headers = {}, token = this.token }: LlmRequest,
  ): Promise<LlmReply> {
    const sent = typeof body === 'function' ? (body as () => ReadableStream)() : JSON.stringify(body);
    const response = await fetch(`${this.stack().urls[0] ?? ''}/agent/v1/llm/${path}`, {
      method: body === null ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === null ? {} : { body: sent, duplex: 'half' }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Throws if the connection is lost. */
  async send(model: string, more: object = {}, signal?: AbortSignal): Promise<LlmReply> {
    const response = await fetch(`${this.stack().urls[0] ?? ''}/agent/v1/llm/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...more }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Newest first. */
  async calls(model: string): Promise<readonly ListedCall[]> {
    const { body } = await this.api.get<{ items: readonly ListedCall[] }>(
      `/api/v1/llm-calls?agentId=${this.agentId}&limit=200`,
    );
    return body.items.filter((call) => call.model === model);
  }
}
