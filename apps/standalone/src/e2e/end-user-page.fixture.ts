import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandsBelow, readPage } from './page-commands.fixture.js';
import type { Stack } from './stack.fixture.js';

export const END_USERS_PAGE = readPage('end-users.md');

/** The headings of docs/end-users.md that have commands, in the order in which the test runs them. */
export const STEPS = [
  '1. Start Berth',
  '2. Create an end user, its agent and a token',
  '3. Open the page',
  '4. End the access',
] as const;

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** The environment with which the page starts Berth. Throws if that is no longer all that its command does. */
export const environmentOfPage = (): Readonly<Record<string, string>> => {
  const command = commandsBelow(END_USERS_PAGE, STEPS[0], {});
  const [, name = '', value = ''] = /^(\w+)=(\S+) npm start\n$/.exec(command) ?? [];
  if (name === '') throw new Error(`The test cannot start Berth by: ${command}`);
  return { [name]: value };
};

/** Runs the commands of docs/end-users.md as they are, but for the addresses and the data folder. */
export class EndUserPage {
  private server: ChildProcess | undefined;
  private printed = '';

  constructor(
    private readonly stack: Stack,
    /** For the files that the commands make. */
    private readonly folder: string,
  ) {}

  /** Returns the address at which the page is served. */
  async serve(): Promise<string> {
    const server = spawn('sh', ['-eu', '-c', this.script(STEPS[1]) + this.script(STEPS[2])], {
      ...this.options(),
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own group: the shell does not pass signals on.
      detached: true,
    });
    this.server = server;
    return await new Promise((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        this.printed += chunk.toString('utf8');
        const port = /Serving HTTP on 127\.0\.0\.1 port (\d+)/.exec(this.printed)?.[1];
        if (port !== undefined) resolve(`127.0.0.1:${port}`);
      };
      server.stdout.on('data', read);
      server.stderr.on('data', read);
      server.once('error', reject);
      server.once('close', () => reject(new Error(`The commands of the page ended:\n${this.printed}`)));
    });
  }

  /** Ends the access of the end user. */
  async revoke(): Promise<void> {
    await promisify(execFile)('sh', ['-eu', '-c', this.script(STEPS[3])], this.options());
  }

  stop(): void {
    if (this.server?.pid !== undefined && this.server.exitCode === null) process.kill(-this.server.pid);
  }

  private script(step: (typeof STEPS)[number]): string {
    return commandsBelow(END_USERS_PAGE, step, {
      'http://localhost:8080': this.stack.urls[0] ?? '',
      '.data/': `${this.stack.dataDir}/`,
      // Any free port, which the server prints.
      'http.server 3000': 'http.server 0',
    });
  }

  private options() {
    const env = { PATH: process.env['PATH'], TMPDIR: this.folder, PYTHONUNBUFFERED: '1' };
    return { cwd: ROOT, env };
  }
}
