import type { ProgramState } from '@berth/guest-protocol';
import type { Endpoint } from '../program/readiness.js';
import type { Route } from '../server/guest-server.js';

/** What a guest keeps running inside its agent: the agent's program, or the desktop of a computer. */
export interface Workload {
  readonly state: ProgramState;
  /** Resolves once it is ready for the first time. Errors: upstream `agent_start_failed`. */
  ready(): Promise<void>;
  /** Ends it permanently. */
  stop(graceMs: number): Promise<void>;
  /** Its HTTP server; waits up to `withinMs` for one that is starting. Undefined without one. */
  endpoint(withinMs: number): Promise<Endpoint | undefined>;
  /** The environment of other processes beside it; the same object until it changes. */
  readonly env: Readonly<Record<string, string>>;
  /** What it does for callers itself; undefined: nothing. */
  readonly services?: WorkloadServices;
}

/** What callers can have of a workload only with such a one. */
export interface WorkloadServices {
  readonly routes: readonly Route[];
  /** Ends what is under way, before the agent is frozen or stopped, and begins nothing new until `resume`. */
  quiesce(): Promise<void>;
  resume(): void;
}

/** One start of a workload. */
export interface Life<Served> {
  /** Resolves when it serves; undefined when it will not, or `signal` aborts before. */
  readonly serving: (signal: AbortSignal) => Promise<Served | undefined>;
  /** Resolves when it has exited; its last output is still being read. */
  readonly exited: Promise<void>;
  /** How it ended, for example `exited with code 1`. */
  readonly ended: Promise<string>;
  /** Whether it was killed, not by `end`. */
  readonly wasKilled: boolean;
  /** Asks it to end, and kills it after `graceMs`; resolves when it has exited. */
  end(graceMs: number): Promise<void>;
}

/** How a supervisor starts a workload, and calls it in messages. */
export interface LifeSource<Served> {
  /** For example `The agent's program`. */
  readonly name: string;
  /** What it does when it is ready, for example `respond to HTTP on $PORT`, and did not. */
  readonly readiness: { readonly does: string; readonly did: string };
  /** Throws if it cannot be started, and the reason of `signal` if that aborts before. */
  begin(signal: AbortSignal): Promise<Life<Served>>;
}
