import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, lchown, open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A named pipe at which a task waits until the host lets it begin: everything that holds the task is in place by then, and
 * the host knows its processes.
 */
export class TaskGate {
  #writer: FileHandle | undefined;

  private constructor(readonly path: string) {}

  /** Creates the pipe, which only that user can read. */
  static async create(
    path: string,
    { uid, gid }: { readonly uid: number; readonly gid: number },
  ): Promise<TaskGate> {
    await run('mkfifo', [path]);
    await lchown(path, uid, gid);
    await chmod(path, 0o400);
    return new TaskGate(path);
  }

  /** Whether the task waits at the gate. */
  async isReached(): Promise<boolean> {
    // Fails while nothing has the other end open.
    this.#writer ??= await open(this.path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
    return this.#writer !== undefined;
  }

  /** Lets the task begin; call it when the gate is reached. */
  async letPass(): Promise<void> {
    await this.#writer?.write('go\n');
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = undefined;
  }
}
