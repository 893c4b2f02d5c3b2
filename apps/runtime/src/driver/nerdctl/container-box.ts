import type { ExecutionGroupsParent } from '@berth/guest-protocol';
import { detach, type Json } from '@berth/kernel';
import type { Box, InsidePaths, RunAs } from '../driver.js';
import { isAlive, type ProcessIdentity } from '../process-table.js';
import { joining } from './joining.js';
import { AGENT_IDS, insidePathsOf, runAsUser, SYSTEM_PATH } from './paths-inside.js';

/** Persistent state of a box. */
export interface ContainerFacts {
  readonly agentId: string;
  /** Id of the container. */
  readonly container: string;
  readonly socket: string;
  readonly command: Box['command'];
  readonly inside?: InsidePaths;
  readonly runAs?: RunAs;
  /** Variables of the image. */
  readonly imageEnv?: Readonly<Record<string, string>>;
  /** Process 1 of the container. */
  readonly guest: ProcessIdentity;
  /** Files inside that move a process into the agent's control groups; `[]` for a container without. */
  readonly groups: readonly string[];
  readonly executionGroups?: ExecutionGroupsParent | undefined;
}

const POLL_EVERY_MS = 200;

/** A container whose process 1 has started the guest, and exits with it. */
export class ContainerBox implements Box {
  readonly agentId: string;
  readonly container: string;
  readonly socket: string;
  readonly inside: InsidePaths;
  readonly command: Box['command'];
  readonly runAs: RunAs;
  readonly imageEnv: Readonly<Record<string, string>>;
  readonly guest: ProcessIdentity;
  readonly gone: Promise<void>;
  readonly #groups: readonly string[];
  readonly #end = Promise.withResolvers<void>();
  readonly #watch: NodeJS.Timeout;

  constructor(facts: ContainerFacts) {
    this.agentId = facts.agentId;
    this.container = facts.container;
    this.socket = facts.socket;
    this.command = facts.command;
    // A box that is found again has its program already.
    this.inside = facts.inside ?? insidePathsOf(SYSTEM_PATH, null);
    this.imageEnv = facts.imageEnv ?? {};
    this.guest = facts.guest;
    this.#groups = facts.groups;
    const { executionGroups, runAs = runAsUser(AGENT_IDS) } = facts;
    this.runAs = joining({ ...runAs, ...(executionGroups && { executionGroups }) }, facts.groups);
    this.gone = this.#end.promise;
    this.#watch = setInterval(() => detach(this.#check()), POLL_EVERY_MS).unref();
  }

  get record(): Json {
    const { container, socket, command, guest, runAs } = this;
    return {
      container,
      socket,
      command: command === null ? null : [...command],
      guest: { pid: guest.pid, startedAt: guest.startedAt },
      groups: this.#groups,
      executionGroups: runAs.executionGroups === undefined ? null : { ...runAs.executionGroups },
    };
  }

  /** All its processes have ended. */
  ended(): void {
    this.forget();
    this.#end.resolve();
  }

  /** Stops watching. */
  forget(): void {
    clearInterval(this.#watch);
  }

  async #check(): Promise<void> {
    if (!(await isAlive(this.guest))) this.ended();
  }
}

/** Parses `ContainerBox.record`; undefined if it is malformed. */
export const readContainerRecord = (agentId: string, record: Json): ContainerFacts | undefined => {
  const { container, socket, guest, command, groups, executionGroups } = membersOf(record);
  const { pid, startedAt } = membersOf(guest);
  if (typeof container !== 'string' || typeof socket !== 'string') return undefined;
  if (typeof pid !== 'number' || typeof startedAt !== 'string') return undefined;
  return {
    agentId,
    container,
    socket,
    command: readCommand(command),
    guest: { pid, startedAt },
    groups: isList(groups) ? groups.map(String) : [],
    executionGroups: readExecutionGroups(executionGroups),
  };
};

const membersOf = (value: Json | undefined): Readonly<Record<string, Json | undefined>> =>
  typeof value === 'object' && value !== null && !isList(value) ? value : {};

const readExecutionGroups = (value: Json | undefined): ExecutionGroupsParent | undefined => {
  const { version, folder } = membersOf(value);
  const isWhole = (version === 1 || version === 2) && typeof folder === 'string';
  return isWhole ? { version, folder } : undefined;
};

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const readCommand = (command: Json | undefined): Box['command'] => {
  if (!isList(command)) return null;
  const [first, ...rest] = command.map(String);
  return first === undefined ? null : [first, ...rest];
};
