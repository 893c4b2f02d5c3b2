import type { ProgramState, PutProgram } from '@berth/guest-protocol';
import type { OutputPipes } from '../output/output-pipes.js';
import { Supervisor, type SupervisorReports } from '../workload/supervisor.js';
import type { Life, Workload } from '../workload/workload.js';
import { programEnv } from './program-env.js';
import { ProgramProcess } from './program-process.js';
import { waitUntilServing, type Endpoint } from './readiness.js';
import { reservePort } from './reserve-port.js';

type Runnable = PutProgram & { readonly command: readonly [string, ...string[]] };

/** Dependencies of a supervised program. */
export interface ProgramMeans extends SupervisorReports {
  readonly pipes: OutputPipes;
  readonly apiPort: number;
  /** Inherited by every process of the agent. */
  readonly mark: Readonly<Record<string, string>>;
}

/** The agent's program, which serves HTTP on `$PORT`. */
export class ProgramWorkload implements Workload {
  readonly #supervisor: Supervisor<Endpoint>;
  #env: { readonly port: number | undefined; readonly variables: Readonly<Record<string, string>> };

  constructor(
    private readonly program: Runnable,
    private readonly means: ProgramMeans,
  ) {
    const source = {
      name: "The agent's program",
      readiness: { does: 'respond to HTTP on $PORT', did: 'responded to HTTP on $PORT' },
      begin: (signal: AbortSignal) => this.#begin(signal),
    };
    this.#env = { port: undefined, variables: this.#envOn(undefined) };
    this.#supervisor = new Supervisor(source, program, means);
  }

  get state(): ProgramState {
    return this.#supervisor.state;
  }

  /** Of a program that is restarting, commands see no port. */
  get env(): Readonly<Record<string, string>> {
    const port = this.#supervisor.served?.port;
    if (this.#env.port !== port) this.#env = { port, variables: this.#envOn(port) };
    return this.#env.variables;
  }

  ready(): Promise<void> {
    return this.#supervisor.ready();
  }

  endpoint(withinMs: number): Promise<Endpoint | undefined> {
    return this.#supervisor.whenServing(withinMs);
  }

  stop(graceMs: number): Promise<void> {
    return this.#supervisor.stop(graceMs);
  }

  async #begin(signal: AbortSignal): Promise<Life<Endpoint>> {
    const { log, pipes } = this.means;
    while (pipes.isShort) await pipes.refill();
    const { port, release } = await reservePort();
    try {
      signal.throwIfAborted();
      const process = new ProgramProcess(this.program, this.#envOn(port), log, pipes);
      const serving = async (until: AbortSignal): Promise<Endpoint | undefined> => {
        try {
          return await waitUntilServing(port, until);
        } catch {
          return undefined;
        } finally {
          release();
        }
      };
      return {
        serving,
        exited: process.exited,
        ended: process.ended,
        get wasKilled() {
          return process.wasKilled;
        },
        end: (graceMs) => process.end(graceMs),
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  #envOn(port: number | undefined): Readonly<Record<string, string>> {
    return programEnv(this.program, { program: port, api: this.means.apiPort }, this.means.mark);
  }
}
