// Berth meters models at two addresses, one for each dialect, and lists the operator's models at both.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';

const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, MODEL, OPENAI_API_KEY, OPENAI_BASE_URL } = process.env;
const DIALECTS = [
  {
    baseURL: OPENAI_BASE_URL,
    apiKey: OPENAI_API_KEY,
    headers: { authorization: `Bearer ${OPENAI_API_KEY}` },
    connect: (options) => createOpenAI(options).chat,
  },
  {
    baseURL: `${ANTHROPIC_BASE_URL}/v1`,
    apiKey: ANTHROPIC_API_KEY,
    headers: { 'x-api-key': ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01' },
    connect: (options) => createAnthropic(options),
  },
];

export const HOW_TO_CONFIGURE = `No model is configured. Ask the operator of this Berth to name one in berth.yaml:

llm:
  providers:
    - { id: main, dialect: openai, baseUrl: "https://api.openai.com/v1", apiKeyEnv: UPSTREAM_KEY }
  models:
    - { name: some-model, provider: main, inputCentsPerMillion: 250, outputCentsPerMillion: 1000,
        contextTokens: 128000, maxOutputTokens: 16384 }
  defaultModel: some-model

and to set UPSTREAM_KEY. Or name one of the operator's models in the variable MODEL of this agent.`;

/** The model named by MODEL, else the operator's default, which the list marks; undefined if there is none. */
export const findModel = async () => {
  for (const { headers, connect, ...options } of DIALECTS) {
    const response = await fetch(`${options.baseURL}/models`, { headers });
    if (!response.ok) throw new Error(`The models cannot be listed: ${await response.text()}`);
    const { data } = await response.json();
    const found = data.find((one) => (MODEL === undefined ? one.default === true : one.id === MODEL));
    if (found !== undefined) return connect(options)(found.id);
  }
  return undefined;
};
