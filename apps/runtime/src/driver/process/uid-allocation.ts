import { readFile } from 'node:fs/promises';
import { readStored, writeDurably, type StoredContent } from '../../durable-file.js';
import { DriverError } from '../driver-error.js';

/** Number of user ids that one host reserves for agents. */
const BLOCK = 4096;
/** A range that no tool assigns (systemd's UIDS-GIDS): 0x70000000 to 0x7fffffff. */
const HIGH_BASE = 0x70000000;
const HIGH_BLOCKS = 65_535;
/** For user namespaces with only 65,536 ids. */
const LOW_BASE = 61_000;

/** The user id of each agent. */
const UIDS: StoredContent<[string, number][]> = {
  description: 'the user ids of the agents',
  parse: (json) => {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
    const entries = Object.entries(json);
    return entries.every((entry): entry is [string, number] => Number.isSafeInteger(entry[1]))
      ? entries
      : undefined;
  },
};

/** Assigns each agent a user and group that are unique on this host, stored in a file until the agent is removed. */
export class UidAllocation {
  readonly #uids = new Map<string, number>();
  #saving: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    private readonly base: number,
  ) {}

  /**
   * `instance` spreads the hosts of one machine over different ranges; `base` sets the range explicitly. Throws
   * `ConfigError` if the file cannot be read: new agents would get the users, and so the files, of existing ones.
   */
  static async open(file: string, instance: string, base: number | undefined): Promise<UidAllocation> {
    const allocation = new UidAllocation(file, base ?? (await defaultBase(instance)));
    for (const [agentId, uid] of (await readStored(file, UIDS)) ?? []) allocation.#uids.set(agentId, uid);
    return allocation;
  }

  find(agentId: string): number | undefined {
    return this.#uids.get(agentId);
  }

  /** The agent that a user id is assigned to. */
  agentOf(uid: number): string | undefined {
    for (const [agentId, assigned] of this.#uids) if (assigned === uid) return agentId;
    return undefined;
  }

  async allocate(agentId: string): Promise<number> {
    const assigned = this.#uids.get(agentId);
    if (assigned !== undefined) return assigned;
    const taken = new Set(this.#uids.values());
    for (let uid = this.base; uid < this.base + BLOCK; uid++) {
      if (taken.has(uid)) continue;
      this.#uids.set(agentId, uid);
      await this.#save();
      return uid;
    }
    throw new DriverError('host_exhausted', `All ${BLOCK} user ids for agents are taken.`);
  }

  async release(agentId: string): Promise<void> {
    if (this.#uids.delete(agentId)) await this.#save();
  }

  #save(): Promise<void> {
    const saved = this.#saving
      .catch(() => undefined)
      .then(() => writeDurably(this.file, JSON.stringify(Object.fromEntries(this.#uids))));
    this.#saving = saved;
    return saved;
  }
}

const defaultBase = async (instance: string): Promise<number> => {
  const map = await readFile('/proc/self/uid_map', 'utf8').catch(() => '');
  const covers = map.split('\n').some((line) => {
    const [inside = Number.NaN, , length = 0] = line.trim().split(/\s+/).map(Number);
    return inside <= HIGH_BASE && inside + length > HIGH_BASE + HIGH_BLOCKS * BLOCK;
  });
  return covers ? HIGH_BASE + (Number.parseInt(instance.slice(0, 8), 16) % HIGH_BLOCKS) * BLOCK : LOW_BASE;
};
