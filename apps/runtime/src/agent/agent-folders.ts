import { join } from 'node:path';

/** Where a host keeps what belongs to one agent. All of it is gone when the agent is removed. */
export interface AgentFolders {
  readonly root: string;
  readonly logs: string;
  readonly journal: string;
  /** Holds the guest's socket. */
  readonly run: string;
  /** What the agent's own user may write lies in these two. */
  readonly volume: string;
  readonly tmp: string;
  readonly state: string;
}

/** Paths of an agent's folders under the data folder of the host. */
export const agentFolders = (dataDir: string, agentId: string): AgentFolders => {
  const root = join(dataDir, 'agents', agentId);
  return {
    root,
    logs: join(root, 'logs'),
    journal: join(root, 'journal'),
    run: join(root, 'run'),
    volume: join(root, 'volume'),
    tmp: join(root, 'tmp'),
    state: join(root, 'state.json'),
  };
};
