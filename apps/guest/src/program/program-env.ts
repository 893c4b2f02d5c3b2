import type { PutProgram } from '@berth/guest-protocol';

/**
 * The complete environment of the agent's program. The user's own variables may override the ordinary ones and the URLs
 * of the metered models, but not `PORT` or names that begin with `BERTH_`.
 */
export const programEnv = (
  program: PutProgram,
  ports: { readonly program: number | undefined; readonly api: number },
  mark: Readonly<Record<string, string>>,
): Record<string, string> => {
  const api = `http://127.0.0.1:${ports.api}`;
  return {
    ...imageEnv(program.imageEnv ?? {}),
    PATH: program.path,
    HOME: program.volume,
    TMPDIR: program.tmp,
    LANG: 'C.UTF-8',
    ...llmEnv(program, api),
    ...program.env,
    ...mark,
    ...(ports.program === undefined ? {} : { PORT: String(ports.program) }),
    BERTH_AGENT_ID: program.agentId,
    BERTH_AGENT_TOKEN: program.token,
    BERTH_API_URL: api,
    BERTH_VOLUME: program.volume,
    BERTH_INSTRUCTIONS: program.instructions ?? '',
  };
};

/** The variables of an image without those that only Berth sets. */
export const imageEnv = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => name !== 'PORT' && !name.startsWith('BERTH_')),
  );

/** A user who sets the URL or the key replaces both: our URL rejects the user's key, and another URL rejects ours. */
const llmEnv = (program: PutProgram, api: string): Record<string, string> => {
  const pairs: readonly Record<string, string>[] = [
    { OPENAI_BASE_URL: `${api}/agent/v1/llm/openai/v1`, OPENAI_API_KEY: program.token },
    { ANTHROPIC_BASE_URL: `${api}/agent/v1/llm/anthropic`, ANTHROPIC_API_KEY: program.token },
  ];
  return Object.assign({}, ...pairs.filter((pair) => !Object.keys(pair).some((name) => name in program.env)));
};
