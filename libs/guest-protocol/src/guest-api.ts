import type { Effect, ErrorKind, Json } from '@berth/kernel';

/** One route of the guest's HTTP API on its unix socket. Request and response bodies are JSON. */
export interface GuestRoute {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
}

/**
 * The routes that a runtime calls on a guest. An error response has a status of 400 or above and a `GuestErrorBody`.
 */
export const GUEST_ROUTES = {
  /** → `GuestHealth`, immediately. */
  health: { method: 'GET', path: '/v1/health' },
  /**
   * `PutProgram` → `GuestHealth` once the program is ready. Called once per guest. Errors: upstream
   * `agent_start_failed`.
   */
  program: { method: 'PUT', path: '/v1/program' },
  /** `PutEnv` → `GuestHealth` once the program is ready again. Errors: upstream `agent_start_failed`. */
  env: { method: 'PUT', path: '/v1/env' },
  /**
   * `DeliverToProgram` → `ProgramResponse`. Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable
   * `agent_unavailable`, unsupported `chat_unsupported`; the effect states whether the program may have received the
   * message.
   */
  deliver: { method: 'POST', path: '/v1/deliver' },
  /**
   * `AbandonDelivery` → `AbandonedDelivery`, immediately: a message that waits for its turn in its conversation is not
   * handed over, and its `deliver` requests fail with `DELIVERY_ABANDONED_CODE`. One that was handed over continues.
   * Older guests lack this route.
   */
  abandonDelivery: { method: 'POST', path: '/v1/deliveries/abandon' },
  /** Query `id` → `DeliveryReport`, immediately. */
  delivery: { method: 'GET', path: '/v1/deliveries/one' },
  /**
   * Query `after` (a sequence number) and `waitMs` → `GuestEvents`, as soon as there is an event or `waitMs` has
   * passed.
   */
  events: { method: 'GET', path: '/v1/events' },
  /** → `PolledSchedules`: asks the program, within `SCHEDULES_POLL.withinMs`. Older guests lack this route. */
  schedules: { method: 'GET', path: '/v1/schedules' },
  /** `ShutDown` → `{}` once the program has exited; the guest then exits too. */
  shutdown: { method: 'POST', path: '/v1/shutdown' },

  /**
   * `RunCommand` → `ExecutionReport`. The guest writes the journal record before it starts the command. Errors, all
   * raised before anything starts: invalid `invalid_cwd`, `invalid_command` (command and environment together exceed
   * the system's limit); unavailable `guest_command_unavailable`.
   */
  execute: { method: 'POST', path: '/v1/executions' },
  /**
   * Query `id`, `waitMs` → `ExecutionReport`, when the execution ends or `waitMs` has passed. Errors: not_found
   * `execution_unknown`.
   */
  execution: { method: 'GET', path: '/v1/executions/one' },
  /** → `RunningExecutions`. */
  runningExecutions: { method: 'GET', path: '/v1/executions/running' },
  /**
   * `{executionId}` → the final `ExecutionReport`: sends TERM, then KILL after 2 s. Returns the existing report if the
   * execution is already over. Errors: not_found `execution_unknown`.
   */
  cancelExecution: { method: 'POST', path: '/v1/executions/cancel' },
  /**
   * `{executionId}` → `PrecludedExecution`: an execution that has not started never starts; the journal has it as
   * `failed`. Errors: unavailable `guest_command_unavailable` if that cannot be recorded. Older guests lack this route.
   */
  precludeExecution: { method: 'POST', path: '/v1/executions/preclude' },
  /**
   * `{}` → `{}`: ends all running executions as `failed` before the agent is frozen or stopped, and batches of actions and
   * viewers of a desktop. The guest starts no new ones until the next `health` request.
   */
  failExecutions: { method: 'POST', path: '/v1/executions/fail' },
  /**
   * Query `id` → a stream of `OutputLine`s: the retained output, then new output. Errors: not_found
   * `execution_unknown`.
   */
  executionOutput: { method: 'GET', path: '/v1/executions/output' },
  /**
   * `RunLegacyCommand` → `LegacyReport`. Only older guests have this route, and they have no other route for
   * executions.
   */
  executeLegacy: { method: 'POST', path: '/v1/exec' },

  /**
   * Query `path` (default: the volume) → a stream of one `FileList`. Errors: invalid `not_a_directory`, not_found
   * `path_not_found`, and the errors common to all paths.
   */
  listFiles: { method: 'GET', path: '/v1/files/list' },
  /**
   * GET or HEAD. Query `path`, `within` (`agent` or `volume`), `limit` (bytes); headers `Range`, `If-Range`,
   * `If-None-Match` → the bytes with `Content-Length`, `ETag`, `Content-Range`; status 200, 206, 304 or 416. Errors:
   * invalid `is_a_directory`, `not_a_file`; forbidden `not_readable`; not_found `path_not_found`; too_large
   * `payload_too_large`.
   */
  readFile: { method: 'GET', path: '/v1/files/content' },
  /**
   * Query `id`, `limit` (bytes); the body is the file's bytes → `StagedFile`. An interrupted or oversized upload leaves
   * no file. Errors: too_large `payload_too_large`, full `volume_full`.
   */
  stageFile: { method: 'PUT', path: '/v1/files/staged' },
  /** `FileCommand` → `FileChange`. */
  changeFile: { method: 'POST', path: '/v1/files/change' },

  /** Query `cols`, `rows`; a WebSocket upgrade that opens a terminal. Returns errors as a normal error response. */
  console: { method: 'GET', path: '/v1/console' },

  /**
   * An upgrade to any protocol: a connection to the agent's program, whose bytes pass unchanged. Errors: upstream
   * `app_unreachable`; exhausted `too_many_app_connections`. Older guests lack this route.
   */
  app: { method: 'GET', path: '/v1/app' },

  /**
   * The routes of a desktop, which only a guest with one has. JSON of a plan, see `planActions` of the contract `computers`
   * → one line of JSON, a `PlanOutcome`, after an empty line each second. Batches run one at a time, in order of arrival,
   * and to their end also if the caller hangs up. A response that is broken off tells that the outcome is unknown. Errors:
   * conflict `taken_over`; exhausted `too_many_batches`; unavailable `agent_unavailable`.
   */
  actions: { method: 'POST', path: '/v1/desktop/actions' },
  /** Query `format`, `quality`, `scale` → the image; headers `berth-width`, `berth-height`, `berth-captured-at`. */
  screenshot: { method: 'GET', path: '/v1/desktop/screenshot' },
  /** Query `session`, `mode`, `takeover`; a WebSocket upgrade: RFB 3.8 in binary frames, security type None. */
  vnc: { method: 'GET', path: '/v1/desktop/vnc' },
  /** `CloseViewers` → `{}`: closes open sockets of `vnc`. */
  closeViewers: { method: 'POST', path: '/v1/desktop/viewers/close' },
} as const satisfies Readonly<Record<string, GuestRoute>>;

/** Limits that both sides apply, in bytes and milliseconds. */
export const GUEST_LIMITS = {
  /** Maximum request body: a chat message, or a program with its environment. */
  requestBytes: 8 * 1024 * 1024,
  /** Maximum response body that a runtime reads. */
  responseBytes: 4 * 1024 * 1024,
  /** Maximum chat response of the agent's program: a message of maximum size plus some overhead. */
  chatResponseBytes: 2 * 1024 * 1024,
  /** Maximum duration of a chat, including time in the queue. */
  chatMs: 600_000,
  /** Maximum number of characters passed on from an agent's own error message. */
  errorMessageChars: 2_000,
  /** Maximum time a request for events is held open. */
  eventsWaitMs: 25_000,
} as const;

/** `none`: the template has no program. `crash_loop`: the guest has given up restarting it. */
export type ProgramState = 'none' | 'starting' | 'serving' | 'restarting' | 'crash_loop' | 'stopped';

export interface GuestHealth {
  readonly version: string;
  readonly capabilities: readonly string[];
  readonly program: ProgramState;
}

/** When the guest stops restarting a crashing program. */
export interface RestartPolicy {
  /** Number of exits within `windowMs` after which the guest gives up. */
  readonly maxDeaths: number;
  /** Length of the sliding window. */
  readonly windowMs: number;
  /** Number of exits after which the guest gives up on a program that never became ready. */
  readonly maxEarlyDeaths: number;
}

/**
 * Two folders below one mount. Only the guest can access `staging`; it holds unfinished files and is emptied at every
 * start.
 */
export interface VolumeStorage {
  readonly volume: string;
  readonly staging: string;
}

/** The user of the agent's own processes. */
export interface RunAsUser {
  readonly uid: number;
  readonly gid: number;
  /**
   * A program with arguments that becomes that user, gives up every right and executes the command that follows; absent:
   * the guest changes the user itself, which leaves its capability bounding set to the process.
   */
  readonly launcher?: readonly [string, ...string[]];
  /** A shell of Berth's own, for images without one. */
  readonly shell?: string;
  /** Absent: executions have no control groups. */
  readonly executionGroups?: ExecutionGroupsParent;
}

/**
 * The control group of the agent's processes, below which the guest makes a group for each execution. With a `launcher`, one
 * of its arguments is the file by which a process joins this group; without one, the guest is in it too.
 */
export interface ExecutionGroupsParent {
  readonly version: 1 | 2;
  /** As the guest sees it; in version 1 of a hierarchy that limits processes. */
  readonly folder: string;
}

/** How the guest runs the agent. Paths are as seen inside the agent. Contains secrets: never log or store it. */
export interface PutProgram {
  readonly agentId: string;
  /** null: this agent has no program. */
  readonly command: readonly [string, ...string[]] | null;
  readonly cwd: string;
  readonly volume: string;
  /**
   * The guest's own paths to the volume and its staging folder. Both are below one mount so that a rename between them
   * works.
   */
  readonly storage: VolumeStorage;
  readonly tmp: string;
  /** `PATH` for the command and its children. */
  readonly path: string;
  /** null: run as the guest's own user. */
  readonly runAs: RunAsUser | null;
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the image, which all others replace. */
  readonly imageEnv?: Readonly<Record<string, string>>;
  readonly token: string;
  readonly instructions: string | null;
  readonly restart: RestartPolicy;
  /** Maximum time for the program to become ready. */
  readonly readyWithinMs: number;
  /** The display of a computer, in pixels: the workload is a desktop, and `command` is null. */
  readonly desktop?: { readonly width: number; readonly height: number };
}

/** Ends viewers of a desktop: those of these sessions; null: all. */
export interface CloseViewers {
  readonly sessionIds: readonly string[] | null;
}

/** Response of `runningExecutions`. */
export interface RunningExecutions {
  readonly executionIds: readonly string[];
}

export interface PutEnv {
  readonly env: Readonly<Record<string, string>>;
  readonly readyWithinMs: number;
}

export interface ShutDown {
  /** Delay between TERM and KILL for the program. */
  readonly graceMs: number;
}

/**
 * An event inside the guest. `seq` starts at 1 for each guest process. `killed`: the kernel or someone else has killed
 * the program, which is then restarted as after any crash.
 */
export interface GuestEvent {
  readonly seq: number;
  readonly type: 'crash_loop' | 'killed';
  readonly message: string;
}

export interface GuestEvents {
  readonly events: readonly GuestEvent[];
  /** The next value for `after`. */
  readonly last: number;
}

export interface GuestErrorBody {
  readonly error: {
    readonly kind: ErrorKind;
    readonly code: string;
    readonly message: string;
    readonly context: Readonly<Record<string, Json | undefined>>;
    /** See `DomainError`. */
    readonly effect?: Effect;
  };
}

/** Environment variables passed to a guest. No value is a secret. */
export const guestEnv = {
  /** Absolute path of the unix socket to listen on. */
  socket: 'BERTH_GUEST_SOCKET',
  /** Folder of the log files. */
  logs: 'BERTH_GUEST_LOGS',
  /** Folder of the journals; it outlives the guest. */
  journal: 'BERTH_GUEST_JOURNAL',
  generation: 'BERTH_GUEST_GENERATION',
  /** Absolute path of a shell of Berth's own, for images without one. */
  shell: 'BERTH_GUEST_SHELL',
  /**
   * Absolute path of the link to the user namespace that the guest creates for an agent that is root inside; absent: it
   * creates none.
   */
  namespace: 'BERTH_GUEST_NAMESPACE',
  /** Command line, without quotes, that runs a shell in a new user namespace. */
  holdNamespace: 'BERTH_GUEST_HOLD_NAMESPACE',
  /** Inherited by every process of the agent, so that a host without cgroups can find them all. */
  mark: 'BERTH_AGENT_MARK',
} as const;
