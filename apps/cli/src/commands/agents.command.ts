import { setTimeout as delay } from 'node:timers/promises';
import type { AgentView } from '@berth/contracts/agents';
import { LOG_SOURCES, type LogSource } from '@berth/contracts/runtime';
import { Command, InvalidArgumentError, Option } from 'commander';
import { AgentLogs, printEntries } from '../agent-logs.js';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { ConsoleSession } from '../console/console-session.js';
import { findAgent } from '../find-agent.js';
import { listItems } from '../list-items.js';
import { agentTable } from '../output/agent-table.js';
import { printable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const POLL_MS = 500;
/** For waking the agent, besides the time of the command. */
const WAKE_MS = 90_000;
const DEFAULT_SECONDS = 60;

/** `berth agents list|create|logs|exec|console` */
export const agentsCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const agents = new Command('agents').description('agents of the account');
  agents
    .command('list')
    .description('all agents, newest first')
    .option('--json', 'print them as JSON')
    .action(async (options: { readonly json?: true }) => {
      const items = await listItems<AgentView>(api(), '/api/agents');
      terminal.out.write(options.json === true ? `${JSON.stringify(items, null, 2)}\n` : agentTable(items));
    });
  agents
    .command('create')
    .description('create an agent, print its id, and wait until it runs (scope deploy)')
    .argument('<name>')
    .requiredOption('--template <id>', 'from GET /api/templates')
    .action((name: string, { template }: { readonly template: string }) =>
      create(api(), terminal, name, template),
    );
  agents
    .command('logs')
    .description('the newest log entries of an agent')
    .argument('<agent>', 'id or name')
    .option('--limit <number>', '1 to 1000', wholeNumber, 100)
    .addOption(new Option('--source <source>').choices(LOG_SOURCES))
    .option('--follow', 'go on until the command is interrupted')
    .action((agent: string, options: LogOptions) => showLogs(api(), terminal, agent, options));
  agents
    .command('exec')
    .description('run a command in an agent and print its output (scope deploy)')
    .argument('<agent>', 'id or name')
    .argument('<command...>', 'after --; one word is a line for the shell, several are one command')
    .option('--timeout <seconds>', 'for the command', wholeNumber, DEFAULT_SECONDS)
    .action((agent: string, command: readonly string[], { timeout }: { readonly timeout: number }) =>
      exec(api(), terminal, agent, { command, timeout }),
    );
  agents
    .command('console')
    .description('open a terminal in an agent; leave it with exit, or with ~. on a new line (scope deploy)')
    .argument('<agent>', 'id or name')
    .action((agent: string) => openConsole(api(), terminal, agent));
  return agents;
};

interface LogOptions {
  readonly limit: number;
  readonly source?: LogSource;
  readonly follow?: true;
}

const create = async (
  api: ApiClient,
  terminal: Terminal,
  name: string,
  templateId: string,
): Promise<void> => {
  const body = { name, templateId };
  const { id } = await api.call<AgentView>({ method: 'POST', path: '/api/agents', body });
  terminal.out.write(`${id}\n`);
  const path = `/api/agents/${id}?wait=running&timeout=60`;
  const { state, lastError } = await api.call<AgentView>({ method: 'GET', path, withinMs: WAKE_MS });
  if (state !== 'running')
    throw new CliError(EXIT.refused, `The agent is ${state}: ${lastError?.message ?? 'see its logs'}`);
  terminal.err.write(`${printable(name)} is running.\n`);
};

const showLogs = async (
  api: ApiClient,
  terminal: Terminal,
  agent: string,
  { limit, source, follow }: LogOptions,
): Promise<void> => {
  const logs = new AgentLogs(api, await findAgent(api, agent), source ?? null);
  do {
    printEntries(await logs.read(limit), terminal);
    if (follow === true) await delay(POLL_MS);
  } while (follow === true);
};

interface Result {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const exec = async (
  api: ApiClient,
  terminal: Terminal,
  agent: string,
  { command, timeout }: { readonly command: readonly string[]; readonly timeout: number },
): Promise<void> => {
  const path = `/api/agents/${await findAgent(api, agent)}/exec`;
  const { exitCode, stdout, stderr } = await api.call<Result>({
    method: 'POST',
    path,
    body: { command: command.length === 1 ? command[0] : command, timeout },
    withinMs: timeout * 1000 + WAKE_MS,
  });
  terminal.out.write(stdout);
  terminal.err.write(stderr);
  if (exitCode !== 0) throw new CliError(EXIT.refused, `The command ended with exit code ${exitCode}.`);
};

const openConsole = async (api: ApiClient, { interactive }: Terminal, agent: string): Promise<void> => {
  if (interactive === undefined)
    throw new CliError(
      EXIT.usage,
      'Standard input and output are no terminal. Run commands with "agents exec".',
    );
  const { columns, rows } = interactive.output;
  const path = `/api/agents/${await findAgent(api, agent)}/console?cols=${columns}&rows=${rows}`;
  await new ConsoleSession(await api.open(path, WAKE_MS), interactive).run();
};

const wholeNumber = (text: string): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('Give a whole number above 0.');
};
