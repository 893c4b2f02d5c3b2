import type { ComputerExecBody } from '@berth/contracts/computers';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, CommandEnded, EXIT } from '../cli-error.js';
import { findComputer, WAKE_MS } from '../computers/find-computer.js';
import { numberWithin } from '../number-within.js';
import { formatJson } from '../output/json.js';
import type { Terminal } from '../terminal.js';

const DEFAULT_SECONDS = 60;

interface ExecOptions {
  readonly timeout: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly json?: true;
}

interface Executed {
  readonly status: string;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whatever keeps the command from running has one exit code, that of a command line which is not valid too. */
class ExecCommand extends Command {
  override exitOverride(): this {
    return super.exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CommanderError(EXIT.notTheCommands, error.code, error.message);
    });
  }
}

/** `berth computers exec` */
export const computerExecCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new ExecCommand('exec')
    .description(
      `run a command on the desktop of a computer, print its output and end with its exit code: ${EXIT.timedOut} if it took too long, ${EXIT.notTheCommands} for whatever is not the command's`,
    )
    .argument('<computer>', 'id or name')
    .argument('<command...>', 'after --; one word is a line for the shell, several are one command')
    .option('--timeout <seconds>', 'for the command', numberWithin({}), DEFAULT_SECONDS)
    .option('--cwd <folder>', 'where to run it; by default the home folder')
    .option('--env <name=value>', 'a variable; can be repeated', addVariable)
    .option('--json', 'print how it ended as JSON')
    .addHelpText('after', '\nExample: berth computers exec desk -- xdg-open https://example.com')
    .action(async (which: string, command: readonly string[], { json, ...options }: ExecOptions) => {
      const executed = await execute(api, which, command, options).catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        throw new CliError(EXIT.notTheCommands, message, { cause: error });
      });
      print(executed, json, terminal);
      const code = codeOf(executed);
      if (code !== 0) throw new CommandEnded(code);
    });

const execute = async (
  api: () => ApiClient,
  which: string,
  words: readonly string[],
  { timeout, cwd, env }: Omit<ExecOptions, 'json'>,
): Promise<Executed> => {
  const client = api();
  const [line = ''] = words;
  const body: ComputerExecBody = {
    command: words.length === 1 ? line : [...words],
    timeout,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  };
  const path = `${await findComputer(client, which)}/exec`;
  return client.call<Executed>({ method: 'POST', path, body, withinMs: timeout * 1_000 + WAKE_MS });
};

const print = (executed: Executed, json: true | undefined, { out, err }: Terminal): void => {
  if (json === true) {
    out.write(formatJson(executed));
    return;
  }
  out.write(executed.stdout);
  err.write(executed.stderr);
};

const codeOf = ({ status, exitCode }: Executed): number => {
  if (status === 'timed_out') return EXIT.timedOut;
  return status === 'completed' && exitCode >= 0 ? exitCode : EXIT.notTheCommands;
};

const addVariable = (text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give NAME=VALUE.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
};
