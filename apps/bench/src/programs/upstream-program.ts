import { UPSTREAM_KEY, type Behaviour } from '@berth/testing/upstream';
import { UPSTREAM_MAIN } from '../paths.js';
import { childEnvironment, type Environment } from './child-environment.js';
import { ChildProgram } from './child-program.js';

/** The environment variable with the key of the upstream. */
const KEY_VARIABLE = 'BENCH_UPSTREAM_KEY';

/** A provider of models, as a separate process. */
export interface UpstreamProgram {
  readonly program: ChildProgram;
  /** The base URL of its OpenAI dialect. */
  readonly url: string;
  readonly key: string;
  /** What the environment of a Berth needs besides the operator's file. */
  readonly settings: Environment;
  /** The operator's file of a Berth with these models. */
  readonly operatorFile: string;
}

export const startUpstream = async (
  env: Environment,
  behaviours: Readonly<Record<string, Behaviour>>,
): Promise<UpstreamProgram> => {
  const { program, ready } = await ChildProgram.start({
    name: 'The upstream',
    command: process.execPath,
    args: [UPSTREAM_MAIN, '0', JSON.stringify(behaviours)],
    env: childEnvironment(env, {}),
    ready: /(http:\S+)\n/,
  });
  const url = `${ready[1] ?? ''}/v1`;
  return {
    program,
    url,
    key: UPSTREAM_KEY,
    settings: { [KEY_VARIABLE]: UPSTREAM_KEY },
    operatorFile: operatorFile(url, Object.keys(behaviours)),
  };
};

const operatorFile = (url: string, models: readonly string[]): string => `llm:
  providers:
    - { id: openai, dialect: openai, baseUrl: "${url}", apiKeyEnv: ${KEY_VARIABLE}, insecure: true }
  models:
${models
  .map(
    (name) =>
      `    - { name: ${name}, provider: openai, inputCentsPerMillion: 1, outputCentsPerMillion: 1, contextTokens: 100000, maxOutputTokens: 10000 }`,
  )
  .join('\n')}
`;
