import type { ErrorKind, Json } from '@berth/kernel';

/** One thing a guest can be asked over its unix socket. Bodies are JSON both ways. */
export interface GuestRoute {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
}

/** Everything a runtime asks of a guest. A refusal has a status of 400 or above and a `GuestErrorBody`. */
export const GUEST_ROUTES = {
  /** → `GuestHealth`, at once. */
  health: { method: 'GET', path: '/v1/health' },
  /** `PutProgram` → `GuestHealth` once the program serves. Once per guest. Errors: upstream `agent_start_failed`. */
  program: { method: 'PUT', path: '/v1/program' },
  /** `PutEnv` → `GuestHealth` once the program serves again. Errors: upstream `agent_start_failed`. */
  env: { method: 'PUT', path: '/v1/env' },
  /**
   * `DeliverToProgram` → `ProgramAnswer`. Errors: upstream `agent_error`, timeout `agent_timeout`, unavailable
   * `agent_unavailable`, unsupported `chat_unsupported`; context `handedOver` says whether the program got the message.
   */
  deliver: { method: 'POST', path: '/v1/deliver' },
  /** Query `id` → `DeliveryReport`, at once. */
  delivery: { method: 'GET', path: '/v1/deliveries/one' },
  /** Query `after` (a sequence number) and `waitMs` → `GuestEvents`, as soon as there is one or the time is over. */
  events: { method: 'GET', path: '/v1/events' },
  /** `ShutDown` → `{}` once the program has ended; then the guest ends too. */
  shutdown: { method: 'POST', path: '/v1/shutdown' },

  /**
   * `RunCommand` → `ExecutionReport`. The record stands in the journal before the command is started. Errors, all before
   * anything was started: invalid `invalid_cwd`, `invalid_command` (with its environment larger than the system takes);
   * unavailable `guest_command_unavailable`.
   */
  execute: { method: 'POST', path: '/v1/executions' },
  /** Query `id`, `waitMs` → `ExecutionReport`, as soon as it is over or the time is. Errors: not_found `execution_unknown`. */
  execution: { method: 'GET', path: '/v1/executions/one' },
  /** → `RunningExecutions`. */
  runningExecutions: { method: 'GET', path: '/v1/executions/running' },
  /** `{executionId}` → `ExecutionReport`, terminal: TERM, KILL after 2 s. Over already: as it is. Errors: not_found `execution_unknown`. */
  cancelExecution: { method: 'POST', path: '/v1/executions/cancel' },
  /** `{}` → `{}`: ends all that run as `failed`, before the agent is frozen or stopped. Until `health` is asked next, nothing new starts. */
  failExecutions: { method: 'POST', path: '/v1/executions/fail' },
  /** Query `id` → a stream of `OutputLine`s: what is retained, then what comes. Errors: not_found `execution_unknown`. */
  executionOutput: { method: 'GET', path: '/v1/executions/output' },
  /** `RunLegacyCommand` → `LegacyReport`; only older guests know it, and of all these only it. */
  executeLegacy: { method: 'POST', path: '/v1/exec' },

  /** Query `path` (absent: the volume) → a stream of one `FileList`. Errors: invalid `not_a_directory`, not_found `path_not_found` and those of every path. */
  listFiles: { method: 'GET', path: '/v1/files/list' },
  /**
   * Query `path`, `within` (`agent` or `volume`), `limit` (bytes); headers `Range`, `If-Range`, `If-None-Match`; HEAD too
   * → the bytes with `Content-Length`, `ETag`, `Content-Range`; 200, 206, 304 or 416. Errors: invalid `is_a_directory`,
   * `not_a_file`; forbidden `not_readable`; not_found `path_not_found`; too_large `payload_too_large`.
   */
  readFile: { method: 'GET', path: '/v1/files/content' },
  /** Query `id`, `limit` (bytes), the bytes as body → `StagedFile`. A body that breaks off or is too large leaves nothing. Errors: too_large `payload_too_large`, unavailable `volume_full`. */
  stageFile: { method: 'PUT', path: '/v1/files/staged' },
  /** `FileCommand` → `FileChange`. */
  changeFile: { method: 'POST', path: '/v1/files/change' },

  /** Query `cols`, `rows`; a WebSocket upgrade: a terminal (contract §10). Errors as of a refused request. */
  console: { method: 'GET', path: '/v1/console' },
} as const satisfies Readonly<Record<string, GuestRoute>>;

/** Bounds that both sides keep. Bytes and milliseconds. */
export const GUEST_LIMITS = {
  /** The largest body a runtime sends: a chat message, or a program with its environment. */
  requestBytes: 8 * 1024 * 1024,
  /** The largest body of an answer a runtime reads. */
  answerBytes: 4 * 1024 * 1024,
  /** The largest answer of the agent's program to a chat: a message of the largest size with something added. */
  chatResponseBytes: 2 * 1024 * 1024,
  /** How long a chat may take, queueing included. */
  chatMs: 600_000,
  /** How much of an agent's own error message is passed on, in characters. */
  errorMessageChars: 2_000,
  /** The longest a question for events is held open. */
  eventsWaitMs: 25_000,
} as const;

/** `none`: the template has no program. `crash_loop`: given up. */
export type ProgramState = 'none' | 'starting' | 'serving' | 'restarting' | 'crash_loop' | 'stopped';

export interface GuestHealth {
  readonly version: string;
  readonly capabilities: readonly string[];
  readonly program: ProgramState;
}

/** When a program that keeps dying is given up. */
export interface RestartPolicy {
  /** So many deaths … */
  readonly maxDeaths: number;
  /** … within this time end the attempts. */
  readonly windowMs: number;
  /** A program that never served is given up after so many deaths. */
  readonly maxEarlyDeaths: number;
}

/** Two folders below one mount. `staging` lets nobody in but the guest; it holds what is not finished and is emptied at every start. */
export interface VolumeStorage {
  readonly volume: string;
  readonly staging: string;
}

/** The agent as the guest is to run it. Paths are those inside the agent. Carries secrets: never logged or stored. */
export interface PutProgram {
  readonly agentId: string;
  /** null: this agent has no program. */
  readonly command: readonly [string, ...string[]] | null;
  readonly cwd: string;
  readonly volume: string;
  /** How the guest itself reaches the volume and a folder of its own, both below one mount so that files can be renamed across. */
  readonly storage: VolumeStorage;
  readonly tmp: string;
  /** Search path for the command and its children. */
  readonly path: string;
  /** null: the guest's own user. */
  readonly runAs: { readonly uid: number; readonly gid: number } | null;
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  readonly instructions: string | null;
  /** Where Berth's API is reached from the host; null where the agent has no way to it. */
  readonly gatewayUrl: string | null;
  readonly restart: RestartPolicy;
  /** How long the program has until it serves. */
  readonly readyWithinMs: number;
}

/** Answer of `runningExecutions`. */
export interface RunningExecutions {
  readonly executionIds: readonly string[];
}

export interface PutEnv {
  readonly env: Readonly<Record<string, string>>;
  readonly readyWithinMs: number;
}

/** A file in the agent's inbox, as its program is told of it. */
export interface Attachment {
  /** Absolute, as the agent sees it. */
  readonly path: string;
  readonly name: string;
  readonly size: number;
}

export interface DeliverToProgram {
  readonly deliveryId: string;
  readonly conversationId: string;
  readonly message: string;
  /** Files that came with it. */
  readonly attachments?: readonly Attachment[];
  /** W3C Trace Context of the caller, passed on so that the program's own spans join; absent when tracing is off. */
  readonly traceparent?: string;
}

export interface ProgramAnswer {
  readonly response: string;
}

export interface ShutDown {
  /** How long the program has between TERM and KILL. */
  readonly graceMs: number;
}

/** What happened inside, numbered from 1 for each guest process. */
export interface GuestEvent {
  readonly seq: number;
  readonly type: 'crash_loop';
  readonly message: string;
}

export interface GuestEvents {
  readonly events: readonly GuestEvent[];
  /** What to pass as `after` next. */
  readonly last: number;
}

export interface GuestErrorBody {
  readonly error: {
    readonly kind: ErrorKind;
    readonly code: string;
    readonly message: string;
    readonly context: Readonly<Record<string, Json | undefined>>;
  };
}

/** Names of the variables a guest is started with. None of their values is a secret. */
export const guestEnv = {
  /** Absolute path of the unix socket to listen on. */
  socket: 'BERTH_GUEST_SOCKET',
  /** Folder of the log files. */
  logs: 'BERTH_GUEST_LOGS',
  /** Folder of the journals; outlives the guest. */
  journal: 'BERTH_GUEST_JOURNAL',
  generation: 'BERTH_GUEST_GENERATION',
  /** Inherited by every process of the agent, so that a host without cgroups finds them all. */
  mark: 'BERTH_AGENT_MARK',
} as const;
