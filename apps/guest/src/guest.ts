import { DomainError } from '@berth/kernel';
import {
  GENERATIONS,
  type AbandonDelivery,
  type AbandonedDelivery,
  type DeliverToProgram,
  type DeliveryReport,
  type Generation,
  type GuestHealth,
  type PolledSchedules,
  type ProgramResponse,
  type PutEnv,
  type PutProgram,
} from '@berth/guest-protocol';
import { AppConnections } from './app/app-connections.js';
import { Consoles } from './console/consoles.js';
import { Deliveries } from './delivery/deliveries.js';
import type { DeliveryJournal } from './delivery/delivery-journal.js';
import { EventFeed } from './events/event-feed.js';
import { ExecutionGroups } from './execution/execution-groups.js';
import type { ExecutionJournal } from './execution/execution-journal.js';
import { GuestExecutions } from './execution/guest-executions.js';
import { LegacyExecutions } from './execution/legacy-executions.js';
import type { OutputRings } from './execution/output-rings.js';
import { VolumeFiles } from './files/volume-files.js';
import type { LogWriter } from './log/log-writer.js';
import type { OutputPipes } from './output/output-pipes.js';
import { programEnv } from './program/program-env.js';
import { ProgramWorkload } from './program/program-workload.js';
import type { ApiRelay } from './relay/api-relay.js';
import { failed, pollProgram } from './schedules/poll-program.js';
import type { Route } from './server/guest-server.js';
import type { Workload } from './workload/workload.js';

/** Dependencies of a guest. */
export interface GuestParts {
  readonly generation: Generation;
  readonly log: LogWriter;
  readonly journal: DeliveryJournal;
  readonly executionJournal: ExecutionJournal;
  readonly outputs: OutputRings;
  readonly relay: ApiRelay;
  readonly pipes: OutputPipes;
  readonly mark: Readonly<Record<string, string>>;
  /** See `findShell`. */
  readonly shippedShell: string | undefined;
}

/** The agent's current program, and the environment of its processes. */
export interface ProgramEnvironment {
  readonly program: PutProgram;
  readonly env: Readonly<Record<string, string>>;
}

/** Everything that runs inside one agent. */
export class Guest {
  readonly events = new EventFeed();
  readonly executions: GuestExecutions;
  readonly legacyExecutions: LegacyExecutions;
  readonly consoles = new Consoles(() => this.environment());
  readonly apps = new AppConnections(async (withinMs) => this.#workload?.endpoint(withinMs));
  readonly #deliveries: Deliveries;
  #program: PutProgram | undefined;
  #workload: Workload | undefined;
  #files: VolumeFiles | undefined;
  #environment: (ProgramEnvironment & { readonly own: Workload['env'] | undefined }) | undefined;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: GuestParts) {
    this.#deliveries = new Deliveries(parts.journal, async (withinMs) => this.#workload?.endpoint(withinMs));
    const findEnvironment = (): ProgramEnvironment | undefined => this.#program && this.environment();
    const { executionJournal, outputs, pipes, shippedShell } = parts;
    const means = { pipes, outputs, groups: new ExecutionGroups() };
    this.executions = new GuestExecutions(executionJournal, findEnvironment, means, shippedShell);
    this.legacyExecutions = new LegacyExecutions(findEnvironment, means, shippedShell);
  }

  get generation(): Generation {
    return this.parts.generation;
  }

  health(): GuestHealth {
    return { ...GENERATIONS[this.parts.generation], program: this.#workload?.state ?? 'none' };
  }

  /** The routes of its workload. */
  get ownRoutes(): readonly Route[] {
    return this.#workload?.services?.routes ?? [];
  }

  /** Errors: unavailable `agent_unavailable` before `start`. */
  get files(): VolumeFiles {
    this.#configured();
    return this.#files as VolumeFiles;
  }

  /** Sets the agent's program and starts it; resolves once it is ready. */
  async start(program: PutProgram): Promise<GuestHealth> {
    if (this.#program !== undefined) {
      throw new DomainError('conflict', 'already_configured', 'This guest already has its program.');
    }
    this.#files = new VolumeFiles(program);
    this.#program = program;
    return this.#inTurn(() => this.#run(program));
  }

  /** Restarts the program with a new environment. */
  async replaceEnv({ env, readyWithinMs }: PutEnv): Promise<GuestHealth> {
    const program = this.#configured();
    return this.#inTurn(async () => {
      await this.#workload?.stop(RELOAD_GRACE_MS);
      this.#program = { ...program, env, readyWithinMs };
      return this.#run(this.#program);
    });
  }

  deliver(message: DeliverToProgram): Promise<ProgramResponse> {
    if (this.#configured().command === null) {
      throw new DomainError(
        'unsupported',
        'chat_unsupported',
        'This agent has no program that could respond.',
      );
    }
    return this.#deliveries.deliver(message);
  }

  abandonDelivery({ deliveryId }: AbandonDelivery): AbandonedDelivery {
    return { abandoned: this.#deliveries.abandon(deliveryId) };
  }

  findDelivery(deliveryId: string): DeliveryReport {
    return this.#deliveries.find(deliveryId);
  }

  async pollSchedules(): Promise<PolledSchedules> {
    const { command } = this.#program ?? { command: null };
    if (command === null) return { state: 'none' };
    const endpoint = await this.#workload?.endpoint(0);
    return endpoint === undefined ? failed('it is not running') : pollProgram(endpoint);
  }

  /** The context for processes other than the program. Errors: unavailable `agent_unavailable` before `start`. */
  environment(): ProgramEnvironment {
    const program = this.#configured();
    const own = this.#workload?.env;
    const current = this.#environment;
    if (current !== undefined && current.program === program && current.own === own) return current;
    const { relay, mark } = this.parts;
    const env = own ?? programEnv(program, { program: undefined, api: relay.port }, mark);
    this.#environment = { program, env, own };
    return this.#environment;
  }

  /** Ends what is under way before the agent is frozen or stopped; nothing new begins until `resume`. */
  async quiesce(): Promise<void> {
    await Promise.all([this.executions.failAll(), this.#workload?.services?.quiesce()]);
  }

  resume(): void {
    this.executions.acceptAgain();
    this.#workload?.services?.resume();
  }

  /** Ends commands and the program, and closes the guest's files and journals. */
  async shutDown(graceMs: number): Promise<void> {
    await this.consoles.close();
    this.apps.close();
    const commandsMs = Math.min(graceMs, COMMAND_GRACE_MS);
    await Promise.all([
      this.executions.close(commandsMs),
      this.legacyExecutions.close(commandsMs),
      this.#workload?.stop(graceMs),
    ]);
    await this.#files?.close();
    await this.parts.relay.close();
    await this.parts.pipes.close();
    await this.parts.log.close();
    await this.parts.journal.close();
  }

  async #run(program: PutProgram): Promise<GuestHealth> {
    this.#workload = await this.#workloadOf(program);
    try {
      await this.#workload?.ready();
    } finally {
      // A caller that learns of a failed start reads the log next.
      await this.parts.log.flush();
    }
    return this.health();
  }

  async #workloadOf(program: PutProgram): Promise<Workload | undefined> {
    const { log, pipes, relay, mark } = this.parts;
    const means = {
      log,
      mark,
      onCrashLoop: (message: string) => this.events.publish('crash_loop', message),
      onKilled: (message: string) => this.events.publish('killed', message),
    };
    const { command, desktop } = program;
    if (desktop !== undefined) {
      // Only a computer loads what a desktop needs.
      const { DesktopWorkload } = await import('./desktop/desktop-workload.js');
      return new DesktopWorkload(program, desktop, means);
    }
    if (command === null) return undefined;
    return new ProgramWorkload({ ...program, command }, { ...means, pipes, apiPort: relay.port });
  }

  #configured(): PutProgram {
    if (this.#program === undefined) {
      throw new DomainError(
        'unavailable',
        'agent_unavailable',
        'The agent is still starting.',
        {},
        { effect: 'none' },
      );
    }
    return this.#program;
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#changing.then(change, change);
    this.#changing = turn.catch(() => undefined);
    return turn;
  }
}

/** Delay between TERM and KILL for commands. */
const COMMAND_GRACE_MS = 2_000;
/** Delay between TERM and KILL when the program restarts for a new environment. */
const RELOAD_GRACE_MS = 10_000;
