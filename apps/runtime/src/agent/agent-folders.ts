import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The host's folders for one agent. All of them are deleted when the agent is removed. */
export interface AgentFolders {
  readonly root: string;
  readonly logs: string;
  readonly journal: string;
  /** Contains the guest's socket. */
  readonly run: string;
  /** This folder and `tmp` are the only ones that the agent's own user can write to. */
  readonly volume: string;
  readonly tmp: string;
  /** What the agent sees in place of folders that all users of the host share. */
  readonly covers: string;
  /** Staged files. Next to the volume so that a rename into it works; accessible to the guest only. */
  readonly staging: string;
  readonly state: string;
}

/** Paths of an agent's folders below the host's data folder. */
export const agentFolders = (dataDir: string, agentId: string): AgentFolders => {
  const root = join(dataDir, 'agents', agentId);
  return {
    root,
    logs: join(root, 'logs'),
    journal: join(root, 'journal'),
    run: join(root, 'run'),
    volume: join(root, 'volume'),
    tmp: join(root, 'tmp'),
    covers: join(root, 'covers'),
    staging: join(root, 'staging'),
    state: join(root, 'state.json'),
  };
};

/** Creates the folders that the guest writes to, which only the host and the guest can enter. */
export const createGuestFolders = async (dataDir: string, agentId: string): Promise<AgentFolders> => {
  const folders = agentFolders(dataDir, agentId);
  const { root, logs, journal, run } = folders;
  for (const folder of [root, logs, journal, run]) await mkdir(folder, { recursive: true, mode: 0o700 });
  return folders;
};
