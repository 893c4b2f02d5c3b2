import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { findProgram } from '@berth/host-requirements';
import { DriverError } from '../../driver-error.js';

const WITHIN_MS = 5_000;

/** Runs the programs that configure the host's network; nothing else in the driver does. */
export class NetworkCommands {
  private constructor(
    private readonly nft: string,
    private readonly ip: string,
    private readonly nsenter: string,
  ) {}

  /** `path`: folders in which programs are looked for. Errors: `host_unsuitable`. */
  static find(path: string): NetworkCommands {
    const [nft, ip, nsenter] = ['nft', 'ip', 'nsenter'].map((name) => {
      const program = findProgram(name, path);
      if (program === undefined) throw new DriverError('host_unsuitable', `The program ${name} is missing.`);
      return program;
    }) as [string, string, string];
    return new NetworkCommands(nft, ip, nsenter);
  }

  /** Carries out a rule set in one transaction. */
  async applyRules(ruleSet: string): Promise<void> {
    await run(this.nft, ['-f', '-'], ruleSet);
  }

  /** The rules of a table without counters; undefined if there is no such table. */
  async rulesOf(table: string): Promise<string | undefined> {
    return run(this.nft, ['--stateless', 'list', 'table', 'inet', table]).catch((error: unknown) => {
      if (error instanceof Error && error.message.includes('No such file or directory')) return undefined;
      throw error;
    });
  }

  /** Carries out a batch on the host; stops at the first command that fails. */
  async configure(batch: string): Promise<void> {
    await run(this.ip, ['-batch', '-'], batch);
  }

  /** Carries out a batch in the network namespace with that path. */
  async configureInside(namespace: string, batch: string): Promise<void> {
    await run(this.nsenter, [`--net=${namespace}`, this.ip, '-batch', '-'], batch);
  }

  /** Routes of all tables as JSON. */
  routes(family: 4 | 6): Promise<string> {
    return run(this.ip, ['-json', `-${family}`, 'route', 'show', 'table', 'all']);
  }
}

const run = async (program: string, args: readonly string[], input = ''): Promise<string> => {
  const child = spawn(program, args, { timeout: WITHIN_MS, killSignal: 'SIGKILL' });
  // One that fails early closes its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code === 0) return output;
  throw new Error(`${program} ${args.join(' ')} failed: ${complaint.trim() || `exit code ${String(code)}`}`);
};
