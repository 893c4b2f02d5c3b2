import type { AgentView } from '@berth/contracts/agents';
import { isId, type Page } from '@berth/kernel';
import type { ApiClient } from './api-client.js';
import { CliError, EXIT } from './cli-error.js';

/** Returns the id of the agent with this id or name. */
export const findAgent = async (api: ApiClient, which: string): Promise<string> => {
  if (isId('agt', which)) return which;
  const path = `/api/agents?limit=1&name=${encodeURIComponent(which)}`;
  const [agent] = (await api.call<Page<AgentView>>({ method: 'GET', path })).items;
  if (agent !== undefined) return agent.id;
  throw new CliError(EXIT.refused, `There is no agent with the name ${JSON.stringify(which)}.`);
};
