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
  /** Files on their way into the volume: beside it, so that they can be renamed into it; for the guest alone. */
  readonly staging: string;
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
    staging: join(root, 'staging'),
    state: join(root, 'state.json'),
  };
};
