/** The part of Berth's API that is meant for agents. */
const AGENT_API = /^\/agent\/v1(?:\/|$)/;
const LLM_ROUTE = /^\/agent\/v1\/llm(?:\/|$)/;
const BASE = 'http://agent';

/** Where a request of an agent leads. */
export interface AgentApiPath {
  /** Path and query, without dot segments. */
  readonly path: string;
  /** Whether it is a call of a model. */
  readonly isLlmCall: boolean;
}

/** Reads the target of a request; undefined if it leads out of the part of the API that is meant for agents. */
export const agentApiPath = (url: string): AgentApiPath | undefined => {
  if (!url.startsWith('/') || !URL.canParse(url, BASE)) return undefined;
  const { origin, pathname, search } = new URL(url, BASE);
  if (origin !== BASE || !AGENT_API.test(pathname)) return undefined;
  return { path: `${pathname}${search}`, isLlmCall: LLM_ROUTE.test(pathname) };
};
