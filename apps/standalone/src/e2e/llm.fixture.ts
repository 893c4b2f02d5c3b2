import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { FakeUpstream, UPSTREAM_KEY, type Dialect } from '@berth/testing/upstream';
import type { Api } from './api.fixture.js';
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
};

/** A token of input costs 0.001 cents, one of output 0.002. */
const rates = 'inputCentsPerMillion: 1000, outputCentsPerMillion: 2000';
export const centsOf = (input: number, output: number): number => (input + 2 * output) / 1000;

const fileFor = (url: string): string => `llm:
  providers:
    - { id: openai, dialect: openai, baseUrl: "${url}/v1", apiKeyEnv: UPSTREAM_KEY, insecure: true }
    - { id: anthropic, dialect: anthropic, baseUrl: "${url}/v1", apiKeyEnv: UPSTREAM_KEY, insecure: true }
  models:
${Object.entries(MODELS)
  .map(
    ([name, dialect]) =>
      `    - { name: ${name}, provider: ${dialect}, ${rates}, contextTokens: 100000, maxOutputTokens: 1000 }`,
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

/** Calls models with the token of one agent, as its program does. */
export class LlmAgent {
  private constructor(
    private readonly api: Api,
    private readonly stack: () => Stack,
    readonly agentId: string,
    private readonly token: string,
  ) {}

  static async of(api: Api, stack: () => Stack, agentId: string): Promise<LlmAgent> {
    const { body } = await api.chat(agentId, 'env OPENAI_API_KEY');
    return new LlmAgent(api, stack, agentId, body.response);
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
