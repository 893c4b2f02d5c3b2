import { detach, type Json } from '@berth/kernel';
import type { Box, InsidePaths, RunAs } from '../driver.js';
import { isAlive, type ProcessIdentity } from '../process-table.js';

/** Persistent state of a box. */
export interface BoxFacts {
  readonly agentId: string;
  readonly socket: string;
  readonly inside: InsidePaths;
  readonly command: Box['command'];
  readonly runAs: RunAs | null;
  readonly guest: ProcessIdentity;
}

/** Polling interval for the exit of a guest that is not our child. */
const POLL_EVERY_MS = 1_000;

/** A guest process and its surroundings. */
export class ProcessBox implements Box {
  readonly agentId: string;
  readonly socket: string;
  readonly inside: InsidePaths;
  readonly command: Box['command'];
  readonly runAs: RunAs | null;
  readonly guest: ProcessIdentity;
  #watch: NodeJS.Timeout | undefined;

  constructor(
    facts: BoxFacts,
    readonly gone: Promise<void>,
  ) {
    this.agentId = facts.agentId;
    this.socket = facts.socket;
    this.inside = facts.inside;
    this.command = facts.command;
    this.runAs = facts.runAs;
    this.guest = facts.guest;
  }

  /** The box of a guest that an earlier host process started. */
  static adopt(facts: BoxFacts): ProcessBox {
    const gone = Promise.withResolvers<void>();
    const box = new ProcessBox(facts, gone.promise);
    const check = async (): Promise<void> => {
      if (await isAlive(facts.guest)) return;
      box.forget();
      gone.resolve();
    };
    box.#watch = setInterval(() => detach(check()), POLL_EVERY_MS).unref();
    return box;
  }

  get record(): Json {
    const { socket, guest, command } = this;
    return {
      socket,
      command: command === null ? null : [...command],
      inside: { ...this.inside, storage: { ...this.inside.storage } },
      runAs: this.runAs === null ? null : toJson(this.runAs),
      guest: { pid: guest.pid, startedAt: guest.startedAt },
    };
  }

  /** Stops watching. */
  forget(): void {
    clearInterval(this.#watch);
  }
}

const toJson = ({ executionGroups, ...user }: RunAs): Json => ({
  ...user,
  ...(executionGroups && { executionGroups: { ...executionGroups } }),
});

/** Parses `ProcessBox.record`; undefined if it is malformed. */
export const readBoxRecord = (agentId: string, record: Json): BoxFacts | undefined => {
  if (typeof record !== 'object' || record === null) return undefined;
  const facts = { command: null, ...record, agentId } as unknown as BoxFacts;
  const whole =
    typeof facts.socket === 'string' &&
    typeof facts.inside?.volume === 'string' &&
    typeof facts.guest?.pid === 'number' &&
    typeof facts.guest.startedAt === 'string';
  return whole ? facts : undefined;
};
