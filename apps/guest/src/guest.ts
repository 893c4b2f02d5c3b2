import { DomainError } from '@berth/kernel';
import {
  GENERATIONS,
  type DeliverToProgram,
  type Generation,
  type GuestHealth,
  type ProgramAnswer,
  type PutEnv,
  type PutProgram,
} from '@berth/guest-protocol';
import { Deliveries } from './delivery/deliveries.js';
import type { DeliveryJournal } from './delivery/delivery-journal.js';
import { EventFeed } from './events/event-feed.js';
import type { LogWriter } from './log/log-writer.js';
import { ProgramSupervisor } from './program/program-supervisor.js';
import type { ApiRelay } from './relay/api-relay.js';

/** What a guest works with. */
export interface GuestParts {
  readonly generation: Generation;
  readonly log: LogWriter;
  readonly journal: DeliveryJournal;
  readonly relay: ApiRelay;
  readonly mark: Readonly<Record<string, string>>;
}

/** Everything that is done inside one agent. */
export class Guest {
  readonly events = new EventFeed();
  readonly #deliveries: Deliveries;
  #program: PutProgram | undefined;
  #supervisor: ProgramSupervisor | undefined;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: GuestParts) {
    this.#deliveries = new Deliveries(parts.journal, async (withinMs) =>
      this.#supervisor?.endpoint(withinMs),
    );
  }

  health(): GuestHealth {
    return { ...GENERATIONS[this.parts.generation], program: this.#supervisor?.state ?? 'none' };
  }

  /** Takes the agent's program and starts it; resolves once it serves. */
  async start(program: PutProgram): Promise<GuestHealth> {
    if (this.#program !== undefined) {
      throw new DomainError('conflict', 'already_configured', 'This guest has its program already.');
    }
    this.#program = program;
    this.parts.relay.pointTo(program.gatewayUrl);
    return this.#inTurn(() => this.#run(program));
  }

  /** Starts the program anew with another environment. */
  async replaceEnv({ env, readyWithinMs }: PutEnv): Promise<GuestHealth> {
    const program = this.#configured();
    return this.#inTurn(async () => {
      await this.#supervisor?.stop(RELOAD_GRACE_MS);
      this.#program = { ...program, env, readyWithinMs };
      return this.#run(this.#program);
    });
  }

  deliver(message: DeliverToProgram): Promise<ProgramAnswer> {
    if (this.#configured().command === null) {
      throw new DomainError(
        'unsupported',
        'chat_unsupported',
        'This agent has no program that could answer.',
        {
          handedOver: false,
        },
      );
    }
    return this.#deliveries.deliver(message);
  }

  /** Ends the program, and with it what can be told of it. */
  async shutDown(graceMs: number): Promise<void> {
    await this.#supervisor?.stop(graceMs);
    this.parts.relay.close();
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
        apiPort: this.parts.relay.port,
        mark: this.parts.mark,
        onCrashLoop: (message) => this.events.publish('crash_loop', message),
      },
    );
    try {
      await this.#supervisor.ready();
    } finally {
      // Whoever hears of a failed start looks into the log next.
      await this.parts.log.flush();
    }
    return this.health();
  }

  #configured(): PutProgram {
    if (this.#program === undefined) {
      throw new DomainError('unavailable', 'agent_unavailable', 'The agent is only just starting.', {
        handedOver: false,
      });
    }
    return this.#program;
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#changing.then(change, change);
    this.#changing = turn.catch(() => undefined);
    return turn;
  }
}

/** What a program has to end in when it is restarted for a new environment. */
const RELOAD_GRACE_MS = 10_000;
