import {
  GUEST_LIMITS,
  GUEST_ROUTES,
  SCHEDULES_POLL,
  type CloseViewers,
  type DeliverToProgram,
  type DeliveryReport,
  type ExecutionReport,
  type FileChange,
  type FileCommand,
  type GuestEvents,
  type GuestHealth,
  type LegacyReport,
  type PolledSchedules,
  type PrecludedExecution,
  type ProgramResponse,
  type PutEnv,
  type PutProgram,
  type RunCommand,
  type RunLegacyCommand,
} from '@berth/guest-protocol';
import { readDelivery } from './delivery-responses.js';
import {
  readExecution,
  readLegacyReport,
  readPrecluded,
  readRunningExecutions,
} from './execution-responses.js';
import { readFileChange } from './file-responses.js';
import { readEvents, readHealth, readPolledSchedules, readProgramResponse } from './guest-responses.js';
import { GuestSocket } from './guest-socket.js';

const HEALTH_WITHIN_MS = 2_000;
/** Extra time for a response beyond the time that the guest itself was given. */
const SLACK_MS = 2_000;
/** The guest ends running commands within 2 s (TERM, KILL) and records how they ended. */
const END_COMMANDS_WITHIN_MS = 5_000;
/** Deleting a large folder takes time. */
const CHANGE_FILE_WITHIN_MS = 60_000;
/** Their sockets are closed within 5 s of the API's answer. */
const CLOSE_VIEWERS_WITHIN_MS = 4_000;

/** Client of one guest. Errors: unavailable `guest_unreachable`, and the guest's own errors. */
export class GuestClient {
  readonly #socket: GuestSocket;

  constructor(socket: string) {
    this.#socket = new GuestSocket(socket);
  }

  /** Path of the guest's socket. */
  get socketPath(): string {
    return this.#socket.path;
  }

  async health(): Promise<GuestHealth> {
    const signal = AbortSignal.timeout(HEALTH_WITHIN_MS);
    return readHealth(await this.#socket.send({ route: GUEST_ROUTES.health, signal }));
  }

  async putProgram(program: PutProgram, signal: AbortSignal): Promise<GuestHealth> {
    const bounded = within(program.readyWithinMs + SLACK_MS, signal);
    return readHealth(
      await this.#socket.send({ route: GUEST_ROUTES.program, body: program, signal: bounded }),
    );
  }

  async putEnv(change: PutEnv, signal: AbortSignal): Promise<GuestHealth> {
    return readHealth(await this.#socket.send({ route: GUEST_ROUTES.env, body: change, signal }));
  }

  async deliver(message: DeliverToProgram, signal: AbortSignal): Promise<ProgramResponse> {
    const bounded = within(GUEST_LIMITS.chatMs + SLACK_MS, signal);
    return readProgramResponse(
      await this.#socket.send({ route: GUEST_ROUTES.deliver, body: message, signal: bounded, begins: true }),
    );
  }

  /** null: every message that waits for its turn. */
  async abandonDelivery(deliveryId: string | null): Promise<void> {
    const signal = AbortSignal.timeout(HEALTH_WITHIN_MS);
    await this.#socket.send({ route: GUEST_ROUTES.abandonDelivery, body: { deliveryId }, signal });
  }

  async delivery(deliveryId: string, signal: AbortSignal): Promise<DeliveryReport> {
    return readDelivery(
      await this.#socket.send({ route: GUEST_ROUTES.delivery, query: { id: deliveryId }, signal }),
    );
  }

  async schedules(signal: AbortSignal): Promise<PolledSchedules> {
    const bounded = within(SCHEDULES_POLL.withinMs + SLACK_MS, signal);
    return readPolledSchedules(await this.#socket.send({ route: GUEST_ROUTES.schedules, signal: bounded }));
  }

  async events(after: number, signal: AbortSignal): Promise<GuestEvents> {
    const waitMs = GUEST_LIMITS.eventsWaitMs;
    const query = { after, waitMs };
    const bounded = within(waitMs + SLACK_MS, signal);
    return readEvents(await this.#socket.send({ route: GUEST_ROUTES.events, query, signal: bounded }));
  }

  async shutDown(graceMs: number): Promise<void> {
    const signal = AbortSignal.timeout(graceMs + SLACK_MS / 4);
    await this.#socket.send({ route: GUEST_ROUTES.shutdown, body: { graceMs }, signal });
  }

  /** Starts a command. No time-out of its own. On an error, `neverSent` determines whether the request was sent. */
  async execute(command: RunCommand, signal: AbortSignal): Promise<ExecutionReport> {
    const request = { route: GUEST_ROUTES.execute, body: command, signal, begins: true };
    const response = await this.#socket.sendOnNewConnection(request);
    return readExecution(response, command.executionId);
  }

  async execution(executionId: string, waitMs: number, signal: AbortSignal): Promise<ExecutionReport> {
    const query = { id: executionId, waitMs };
    const bounded = within(waitMs + SLACK_MS, signal);
    const response = await this.#socket.send({ route: GUEST_ROUTES.execution, query, signal: bounded });
    return readExecution(response, executionId);
  }

  async runningExecutions(signal: AbortSignal): Promise<readonly string[]> {
    const bounded = within(HEALTH_WITHIN_MS, signal);
    return readRunningExecutions(
      await this.#socket.send({ route: GUEST_ROUTES.runningExecutions, signal: bounded }),
    );
  }

  async cancelExecution(executionId: string, signal: AbortSignal): Promise<ExecutionReport> {
    const bounded = within(END_COMMANDS_WITHIN_MS, signal);
    const body = { executionId };
    const response = await this.#socket.send({ route: GUEST_ROUTES.cancelExecution, body, signal: bounded });
    return readExecution(response, executionId);
  }

  async precludeExecution(executionId: string, signal: AbortSignal): Promise<PrecludedExecution> {
    const bounded = within(HEALTH_WITHIN_MS, signal);
    const body = { executionId };
    return readPrecluded(
      await this.#socket.send({ route: GUEST_ROUTES.precludeExecution, body, signal: bounded }),
    );
  }

  async failExecutions(): Promise<void> {
    const signal = AbortSignal.timeout(END_COMMANDS_WITHIN_MS);
    await this.#socket.send({ route: GUEST_ROUTES.failExecutions, body: {}, signal });
  }

  /** Like `execute`, for an older guest. */
  async executeLegacy(command: RunLegacyCommand, signal: AbortSignal): Promise<LegacyReport> {
    const request = { route: GUEST_ROUTES.executeLegacy, body: command, signal, begins: true };
    return readLegacyReport(await this.#socket.sendOnNewConnection(request));
  }

  async changeFile(command: FileCommand, signal: AbortSignal): Promise<FileChange> {
    const bounded = within(CHANGE_FILE_WITHIN_MS, signal);
    const request = { route: GUEST_ROUTES.changeFile, body: command, signal: bounded, begins: true };
    return readFileChange(await this.#socket.sendOnNewConnection(request));
  }

  /** Closes sockets of viewers; null: all. */
  async closeViewers(sessionIds: CloseViewers['sessionIds']): Promise<void> {
    const signal = AbortSignal.timeout(CLOSE_VIEWERS_WITHIN_MS);
    await this.#socket.send({ route: GUEST_ROUTES.closeViewers, body: { sessionIds }, signal });
  }

  /** Aborts every open request. */
  async close(): Promise<void> {
    await this.#socket.close();
  }
}

const within = (millis: number, signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(millis)]);
