import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StartAgent, StartedAgent } from '@berth/contracts/runtime';
import type { OperatorSettings } from '@berth/operator-file';
import type { PutProgram, RestartPolicy } from '@berth/guest-protocol';
import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { detach } from '@berth/kernel';
import { ApiSockets } from '../api/api-sockets.js';
import type { AgentApi } from '../api/api-socket.js';
import { RuntimeConfig } from '../config.js';
import { Driver, type Box } from '../driver/driver.js';
import { GuestClient } from '../guest/guest-client.js';
import { createGuestFolders } from './agent-folders.js';
import type { AgentRecord } from './agent-record.js';
import { startFailure } from './agent-refusals.js';
import { boxSpecOf, type StartCode } from './box-spec-of.js';
import { assertDiskHasRoom } from '../disk/disk-room.js';
import { StartCodes } from './start-codes.js';

/** Settings for starting agents on this host. */
export type StartSettings = Pick<RuntimeConfig, 'dataDir' | 'restart'> & {
  readonly operator: Pick<OperatorSettings, 'current'>;
};

/** The sockets between this host and a guest. */
export interface GuestLinks {
  /** For requests to the guest. */
  readonly client: GuestClient;
  /** For requests of the agent. */
  readonly api: AgentApi;
}

/** A box whose guest responds and whose program is ready. */
export interface Started extends GuestLinks {
  readonly box: Box;
  readonly guest: StartedAgent['guest'];
}

const POLL_EVERY_MS = 5;
/** Reserved from the deadline to clean up after a program that does not become ready. */
const CLEAN_UP_MS = 1_000;
/**
 * Starts of boxes on this host at a time. A start costs mainly processor time, so more would only make each other late,
 * and every call to an agent that runs.
 */
const AT_A_TIME = Math.max(4, 2 * availableParallelism());

/** Starts an agent completely, or cleans up. */
@Injectable()
export class AgentStarter {
  readonly #turns = pLimit(AT_A_TIME);

  constructor(
    private readonly driver: Driver,
    private readonly codes: StartCodes,
    private readonly apis: ApiSockets,
    @Inject(RuntimeConfig) private readonly settings: StartSettings,
  ) {}

  /** Call it before anything of a start is recorded. Errors: unavailable `host_full`. */
  assertRoom(): void {
    assertDiskHasRoom(this.settings.dataDir);
  }

  /** The owner's variables, with those of the version that the agent runs. */
  async fullEnv(
    which: Pick<AgentRecord, 'agentId' | 'deploymentId'>,
    env: StartAgent['env'],
  ): Promise<StartAgent['env']> {
    return { ...(await this.codes.envOf(which)), ...env };
  }

  /** Connects this host and a guest. Errors: those of the file system. */
  async link(box: Box): Promise<GuestLinks> {
    const api = await this.apis.open(dirname(box.socket));
    return { client: new GuestClient(box.socket), api };
  }

  /**
   * Errors: upstream `agent_start_failed`. After an error or an abort of `signal`, only the log of the attempt remains.
   * Calls `onBox` as soon as the box exists, before waiting for anything in it.
   */
  async start(
    request: StartAgent,
    signal: AbortSignal,
    onBox: (box: Box) => Promise<void>,
  ): Promise<Started> {
    const { agentId, deadlineMs } = request;
    const code = await this.codes.of(request);
    let links: GuestLinks | undefined;
    try {
      // A pull may take minutes, and a turn may be as long in coming. Neither counts as time of the start, and the end of
      // an agent waits for neither.
      await Promise.race([this.driver.prepare(code.source), whenAborted(signal)]);
      const endTurn = await this.#turn(signal);
      const deadline = performance.now() + deadlineMs - CLEAN_UP_MS;
      let box: Box;
      try {
        box = await this.#startBox(request, code);
        await onBox(box);
        links = await this.link(box);
        await untilListening(links.client, AbortSignal.any([signal, timeLeft(deadline), whenGone(box)]));
      } finally {
        endTurn();
      }
      const { client } = links;
      const readyWithinMs = Math.max(1, Math.floor(deadline - performance.now()));
      const { version, capabilities } = await client.putProgram(
        toProgram({ ...request, env: { ...code.env, ...request.env } }, box, {
          ...this.settings,
          readyWithinMs,
        }),
        AbortSignal.any([signal, whenGone(box)]),
      );
      return { box, ...links, guest: { version, capabilities } };
    } catch (error) {
      await Promise.all([links?.client.close(), links?.api.close()]);
      await this.driver.stop(agentId, 0);
      signal.throwIfAborted();
      throw startFailure(error);
    }
  }

  async #startBox(request: StartAgent, code: StartCode): Promise<Box> {
    const folders = await createGuestFolders(this.settings.dataDir, request.agentId);
    const { capabilities } = this.driver;
    const { pidsLimit } = this.settings.operator.current.runtime;
    return this.driver.start(boxSpecOf(request, code, folders, { capabilities, pidsLimit }));
  }

  /** Waits for a turn. Returns the function that ends it. */
  async #turn(signal: AbortSignal): Promise<() => void> {
    const turn = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const take = (): Promise<void> => {
      begun.resolve();
      return turn.promise;
    };
    detach(this.#turns(take));
    try {
      await Promise.race([begun.promise, whenAborted(signal)]);
      return turn.resolve;
    } catch (error) {
      turn.resolve();
      throw error;
    }
  }
}

const timeLeft = (deadline: number): AbortSignal =>
  AbortSignal.timeout(Math.max(1, Math.ceil(deadline - performance.now())));

/** Rejects when the signal aborts. */
const whenAborted = async (signal: AbortSignal): Promise<never> => {
  signal.throwIfAborted();
  await once(signal, 'abort');
  throw signal.reason;
};

const toProgram = (
  request: StartAgent,
  { inside, runAs, command, imageEnv }: Box,
  settings: {
    readonly restart: RestartPolicy;
    readonly readyWithinMs: number;
  },
): PutProgram => ({
  agentId: request.agentId,
  command,
  cwd: inside.code,
  volume: inside.volume,
  storage: inside.storage,
  tmp: inside.tmp,
  path: inside.path,
  runAs,
  ...(imageEnv === undefined ? {} : { imageEnv }),
  env: request.env,
  token: request.token,
  instructions: request.instructions,
  restart: settings.restart,
  readyWithinMs: settings.readyWithinMs,
  ...(request.desktop === undefined ? {} : { desktop: request.desktop }),
});

const untilListening = async (client: GuestClient, end: AbortSignal): Promise<void> => {
  for (;;) {
    end.throwIfAborted();
    const responds = await client.health().then(
      () => true,
      () => false,
    );
    if (responds) return;
    await delay(POLL_EVERY_MS, undefined, { signal: end });
  }
};

const whenGone = (box: Box): AbortSignal => {
  const gone = new AbortController();
  detach(box.gone.then(() => gone.abort(new Error('the guest ended'))));
  return gone.signal;
};
