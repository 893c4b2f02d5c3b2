import type { AgentView } from '@berth/contracts/agents';
import { formatTable } from './table.js';

/** One line for each agent. */
export const agentTable = (agents: readonly AgentView[]): string =>
  formatTable(
    ['ID', 'NAME', 'STATE', 'SOURCE', 'CREATED'],
    agents.map(({ id, name, state, source, templateId, createdAt }) => [
      id,
      name,
      state,
      source.repoUrl ?? source.image ?? templateId,
      createdAt,
    ]),
  );
