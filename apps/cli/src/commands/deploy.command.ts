import { setTimeout as delay } from 'node:timers/promises';
import type { AcceptedDeployment, DeploymentView } from '@berth/contracts/agents';
import { Command } from 'commander';
import { AgentLogs, printEntries } from '../agent-logs.js';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { findAgent } from '../find-agent.js';
import type { Terminal } from '../terminal.js';

const POLL_MS = 500;
const LINES_AT_ONCE = 1_000;

interface DeployOptions {
  readonly image?: string;
  readonly branch?: string;
  readonly tokenEnv?: string;
  readonly detach?: true;
}

/** `berth deploy` */
export const deployCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('deploy')
    .description('deploy a repository or an image to an agent and follow the build (scope deploy)')
    .argument('<agent>', 'id or name')
    .argument('[url]', 'https URL of the repository')
    .option('--image <reference>', 'container image, instead of a repository')
    .option('--branch <branch>', 'by default the one of the repository')
    .option('--token-env <name>', 'secret variable of the agent with the password of the clone')
    .option('--detach', 'print the id of the deployment and do not wait for it')
    .action((agent: string, url: string | undefined, options: DeployOptions) =>
      deploy(api(), terminal, { agent, what: bodyOf(url, options), detached: options.detach === true }),
    );

interface Deployed {
  /** Id or name. */
  readonly agent: string;
  readonly what: Record<string, string | undefined>;
  readonly detached: boolean;
}

/** The repository or the image, as the API takes it. */
const bodyOf = (url: string | undefined, { image, branch, tokenEnv }: DeployOptions): Deployed['what'] => {
  if ((url === undefined) === (image === undefined))
    throw new CliError(EXIT.usage, 'Give the URL of a repository, or --image with a reference.');
  return image === undefined ? { source: 'git', repoUrl: url, branch, tokenEnv } : { source: 'image', image };
};

const deploy = async (
  api: ApiClient,
  terminal: Terminal,
  { agent, what, detached }: Deployed,
): Promise<void> => {
  const agentId = await findAgent(api, agent);
  const logs = new AgentLogs(api, agentId, 'build');
  // What comes after the newest entry is of this build.
  if (!detached) await logs.read(1);
  const { deploymentId } = await api.call<AcceptedDeployment>({
    method: 'POST',
    path: '/api/deploy',
    body: { agentId, ...what },
  });
  terminal.out.write(`${deploymentId}\n`);
  if (detached) return;
  const ended = await follow(api, terminal, logs, `/api/agents/${agentId}/deployments/${deploymentId}`);
  if (ended.error !== null) throw new CliError(EXIT.refused, `${ended.error.code}: ${ended.error.message}`);
  terminal.err.write(`Deployed ${ended.source.image ?? `commit ${ended.commit ?? '-'}`}.\n`);
};

/** Prints the log until the deployment has ended. */
const follow = async (
  api: ApiClient,
  terminal: Terminal,
  logs: AgentLogs,
  path: string,
): Promise<DeploymentView> => {
  for (;;) {
    const deployment = await api.call<DeploymentView>({ method: 'GET', path });
    printEntries(await logs.read(LINES_AT_ONCE), terminal);
    if (deployment.finishedAt !== null) return deployment;
    await delay(POLL_MS);
  }
};
