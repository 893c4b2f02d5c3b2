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
import { failed, pollProgram } from './schedules/poll-program.js';
import { ProgramSupervisor } from './program/program-supervisor.js';
import type { ApiRelay } from './relay/api-relay.js';

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
  readonly apps = new AppConnections(async (withinMs) => this.#supervisor?.endpoint(withinMs));
  readonly #deliveries: Deliveries;
  #program: PutProgram | undefined;
  #supervisor: ProgramSupervisor | undefined;
  #files: VolumeFiles | undefined;
  #environment: (ProgramEnvironment & { readonly port: number | undefined }) | undefined;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: GuestParts) {
    this.#deliveries = new Deliveries(parts.journal, async (withinMs) =>
      this.#supervisor?.endpoint(withinMs),
    );
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
    return { ...GENERATIONS[this.parts.generation], program: this.#supervisor?.state ?? 'none' };
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
      await this.#supervisor?.stop(RELOAD_GRACE_MS);
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
    if (this.#supervisor === undefined) return { state: 'none' };
    const endpoint = await this.#supervisor.endpoint(0);
    return endpoint === undefined ? failed('it is not running') : pollProgram(endpoint);
  }

  /** The context for processes other than the program. Errors: unavailable `agent_unavailable` before `start`. */
  environment(): ProgramEnvironment {
    const program = this.#configured();
    const port = this.#supervisor?.port;
    const current = this.#environment;
    if (current !== undefined && current.program === program && current.port === port) return current;
    const env = programEnv(program, { program: port, api: this.parts.relay.port }, this.parts.mark);
    this.#environment = { program, env, port };
    return this.#environment;
  }

  /** Ends commands and the program, and closes the guest's files and journals. */
  async shutDown(graceMs: number): Promise<void> {
    await this.consoles.close();
    this.apps.close();
    const commandsMs = Math.min(graceMs, COMMAND_GRACE_MS);
    await Promise.all([
      this.executions.close(commandsMs),
      this.legacyExecutions.close(commandsMs),
      this.#supervisor?.stop(graceMs),
    ]);
    await this.#files?.close();
    await this.parts.relay.close();
    await this.parts.pipes.close();
    await this.parts.log.close();
    await this.parts.journal.close();
  }

  async #run(program: PutProgram): Promise<GuestHealth> {
    const { command } = program;
    if (command === null) return this.health();
    this.#supervisor = new ProgramSupervisor(
      { ...program, command },
      {
        log: this.parts.log,
        pipes: this.parts.pipes,
        apiPort: this.parts.relay.port,
        mark: this.parts.mark,
        onCrashLoop: (message) => this.events.publish('crash_loop', message),
        onKilled: (message) => this.events.publish('killed', message),
      },
    );
    try {
      await this.#supervisor.ready();
    } finally {
      // A caller that learns of a failed start reads the log next.
      await this.parts.log.flush();
    }
    return this.health();
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
