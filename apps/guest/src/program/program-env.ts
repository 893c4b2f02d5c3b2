import type { PutProgram } from '@berth/guest-protocol';

/**
 * The whole environment of the agent's program (contract §3). The user's own variables may replace the ordinary ones
 * and the addresses of the metered models, never those named `BERTH_` or `PORT`.
 */
export const programEnv = (
  program: PutProgram,
  ports: { readonly program: number | undefined; readonly api: number },
  mark: Readonly<Record<string, string>>,
): Record<string, string> => {
  const api = `http://127.0.0.1:${ports.api}`;
  return {
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

/** An address of ours with a key of the user's, or the reverse, would fail: whoever brings one brings both. */
const llmEnv = (program: PutProgram, api: string): Record<string, string> => {
  const pairs: readonly Record<string, string>[] = [
    { OPENAI_BASE_URL: `${api}/agent/v1/llm/openai/v1`, OPENAI_API_KEY: program.token },
    { ANTHROPIC_BASE_URL: `${api}/agent/v1/llm/anthropic`, ANTHROPIC_API_KEY: program.token },
  ];
  return Object.assign({}, ...pairs.filter((pair) => !Object.keys(pair).some((name) => name in program.env)));
};
