import { execa, type Options } from 'execa';
import { whenContainerdStops } from './containerd-probe.js';
import type { CallNerdctl } from './images/image-store.js';
import { scopeArguments } from './nerdctl-arguments.js';
import { toDriverError } from './nerdctl-failures.js';
import type { NerdctlHost } from './nerdctl-host.js';
import type { AttachedCall } from './tasks/container-task.js';

/** Time limit in milliseconds for calls to nerdctl, which itself waits for containerd without limit. */
const CALL_MS = 20_000;
const FORCED_AFTER_MS = 250;

/** The commands that create a container. */
const CREATES = new Set(['run', 'create']);

/** The program nerdctl, for this installation. */
export class NerdctlProgram {
  constructor(private readonly host: Pick<NerdctlHost, 'program' | 'environment' | 'scope' | 'address'>) {}

  /** Returns the output. Errors: see `toDriverError`. */
  async call(args: readonly string[], options: Parameters<CallNerdctl>[1] = {}): Promise<string> {
    const { program, scope, address } = this.host;
    const { timeoutMs = CALL_MS, signal } = options;
    const ended = new AbortController();
    const unavailable = whenContainerdStops(address, ended.signal);
    const result = await execa(program, [...scopeArguments(scope), ...args], {
      ...this.#environmentOf(args),
      stdin: 'ignore',
      timeout: timeoutMs,
      cancelSignal: signal === undefined ? unavailable : AbortSignal.any([signal, unavailable]),
      forceKillAfterDelay: FORCED_AFTER_MS,
      reject: false,
    });
    ended.abort();
    if (!result.failed) return result.stdout;
    signal?.throwIfAborted();
    unavailable.throwIfAborted();
    const { stderr, timedOut } = result;
    throw (
      toDriverError({ stderr, timedOut }) ??
      new Error(`nerdctl ${args[0] ?? ''} failed: ${stderr || result.shortMessage}`)
    );
  }

  /** Runs it until its container ends. */
  attach(args: readonly string[], onOutput: (chunk: Buffer) => void): AttachedCall {
    const { program, scope } = this.host;
    const child = execa(program, [...scopeArguments(scope), ...args], {
      ...this.#environmentOf(args),
      stdin: 'ignore',
      buffer: { stdout: false },
      reject: false,
    });
    child.stdout.on('data', onOutput);
    return {
      ended: child.then(({ exitCode, stderr }) => ({ exitCode, stderr })),
      kill: () => void child.kill('SIGKILL'),
    };
  }

  /**
   * nerdctl stores its variables with the container that it creates, in files of containerd that every user of the machine
   * can read, so that it does not get this process's passwords and keys.
   */
  #environmentOf([command = '']: readonly string[]): Pick<Options, 'env' | 'extendEnv'> {
    return { env: this.host.environment, extendEnv: !CREATES.has(command) };
  }
}
