import { ConfigError, type Env } from '@berth/config';
import { Command, CommanderError } from 'commander';
import { ApiClient } from './api-client.js';
import { CliError, CommandEnded, EXIT } from './cli-error.js';
import { accountCommand } from './commands/account.command.js';
import { accountsCommand } from './commands/accounts.command.js';
import { agentsCommand } from './commands/agents.command.js';
import { auditCommand } from './commands/audit.command.js';
import { computersCommand } from './commands/computers.command.js';
import { deployCommand } from './commands/deploy.command.js';
import { deadLettersCommand } from './commands/dead-letters.command.js';
import { doctorCommand } from './commands/doctor.command.js';
import { endUsersCommand } from './commands/end-users.command.js';
import { feedbackCommand } from './commands/feedback.command.js';
import { hostsCommand } from './commands/hosts.command.js';
import { keysCommand } from './commands/keys.command.js';
import { openapiCommand } from './commands/openapi.command.js';
import { projectionsCommand } from './commands/projections.command.js';
import { schedulesCommand } from './commands/schedules.command.js';
import { usageCommand } from './commands/usage.command.js';
import { webhooksCommand } from './commands/webhooks.command.js';
import { readCliConfig } from './config.js';
import { addHost, revokeHost } from './host-access.js';
import { recoverKey } from './recover-key.js';
import type { Terminal } from './terminal.js';

const ENVIRONMENT = `
Environment:
  BERTH_URL      where Berth is (default http://localhost:$PORT, or :8080)
  BERTH_API_KEY  the key to use; without it the file bootstrap-key in BERTH_DATA
  BERTH_DATA     Berth's data folder (default ./.data)

Exit codes:
  0  done
  1  the service refused the request, or the operation failed
  2  invalid command line or environment; no request was sent
  3  the service is unreachable or cannot serve requests now
  69 this machine lacks something that Berth needs (doctor, computers setup)
  computers exec ends with the command's own code; 124: it took too long, 125: it did not run
`;

/** Runs one command line (without node and script) and returns its exit code; never throws. */
export const run = async (argv: readonly string[], env: Env, terminal: Terminal): Promise<number> => {
  try {
    await programFor(env, terminal).parseAsync(argv, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return exitCodeOf(error, terminal);
  }
};

const programFor = (env: Env, terminal: Terminal): Command => {
  const api = (): ApiClient => new ApiClient(readCliConfig(env));
  const program = new Command('berth')
    .description('Operate a running Berth over HTTP, and examine the machine that it is to run on.')
    .addHelpText('after', ENVIRONMENT);
  program.addCommand(agentsCommand(api, terminal));
  program.addCommand(schedulesCommand(api, terminal));
  program.addCommand(deployCommand(api, terminal));
  program.addCommand(computersCommand(api, env, terminal));
  program.addCommand(keysCommand(api, () => recoverKey(readCliConfig(env)), terminal));
  program.addCommand(accountCommand(api, terminal));
  program.addCommand(usageCommand(api, terminal));
  program.addCommand(accountsCommand(api, terminal));
  program.addCommand(endUsersCommand(api, terminal));
  program.addCommand(webhooksCommand(api, terminal));
  program.addCommand(auditCommand(api, terminal));
  program.addCommand(feedbackCommand(api, terminal));
  program.addCommand(projectionsCommand(api, terminal));
  program.addCommand(deadLettersCommand(api, terminal));
  const credentials = {
    add: (name: string) => addHost(readCliConfig(env), name),
    revoke: (id: string) => revokeHost(readCliConfig(env), id),
  };
  program.addCommand(hostsCommand(api, credentials, terminal));
  program.addCommand(openapiCommand(api, terminal));
  program.addCommand(doctorCommand(env, terminal));
  forEachCommand(program, (command) => {
    command.exitOverride().showHelpAfterError('(see --help)');
    command.configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
    });
  });
  return program;
};

const forEachCommand = (command: Command, act: (command: Command) => void): void => {
  act(command);
  for (const child of command.commands) forEachCommand(child, act);
};

const exitCodeOf = (error: unknown, terminal: Terminal): number => {
  // Commander has already written its own message, or the requested help.
  if (error instanceof CommanderError) return usageCodeOf(error);
  if (error instanceof CommandEnded) return error.code;
  if (error instanceof ConfigError) {
    terminal.err.write(`berth: ${error.message}\n`);
    return EXIT.usage;
  }
  terminal.err.write(`berth: ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof CliError ? error.exitCode : EXIT.refused;
};

const usageCodeOf = ({ exitCode }: CommanderError): number =>
  exitCode === EXIT.ok || exitCode === EXIT.notTheCommands ? exitCode : EXIT.usage;
