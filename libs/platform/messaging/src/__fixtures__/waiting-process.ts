import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Runs the built `waiting-process.fixture` in a separate process, which tests kill or freeze. It handles
 * `cmd.echo.wait.v1` and `passOnRequests.passOn`.
 */
export class WaitingProcess {
  readonly #lines: string[] = [];

  private constructor(private readonly child: ChildProcess) {
    const { stdout } = child;
    if (stdout !== null) createInterface(stdout).on('line', (line) => this.#lines.push(line));
  }

  static start(url: string): WaitingProcess {
    const program = join(import.meta.dirname, '../../dist/__fixtures__/waiting-process.fixture.js');
    return new WaitingProcess(
      spawn(process.execPath, [program, url], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
  }

  printed(line: string): boolean {
    return this.#lines.includes(line);
  }

  count(line: string): number {
    return this.#lines.filter((printed) => printed === line).length;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
