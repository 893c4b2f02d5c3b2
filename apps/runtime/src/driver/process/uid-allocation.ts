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

interface StoredUids {
  readonly assigned: readonly (readonly [string, number])[];
  /** Free ids that agents have had, in the order in which they became free. */
  readonly released: readonly number[];
  /** From here to the end of the block, no agent has had an id. */
  readonly unused: number;
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value);

const assignedIn = (json: object): [string, number][] | undefined => {
  const entries = Object.entries(json);
  return entries.every((entry): entry is [string, number] => isId(entry[1])) ? entries : undefined;
};

const parseUids = (json: unknown): StoredUids | undefined => {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const { assigned: stored, released, unused } = json as Readonly<Record<string, unknown>>;
  if (stored === undefined) return parseAssignedOnly(json);
  if (typeof stored !== 'object' || stored === null || !Array.isArray(released)) return undefined;
  const assigned = assignedIn(stored);
  return assigned !== undefined && released.every(isId) && isId(unused)
    ? { assigned, released, unused }
    : undefined;
};

/** Earlier versions stored only which agent has which id, and gave away the lowest free one. */
const parseAssignedOnly = (json: object): StoredUids | undefined => {
  const assigned = assignedIn(json);
  return assigned === undefined ? undefined : { assigned, released: [], unused: 0 };
};

const UIDS: StoredContent<StoredUids> = { description: 'the user ids of the agents', parse: parseUids };

/**
 * Assigns each agent a user and group that are unique on this host, stored in a file until the agent is removed. An id is
 * given to another agent as late as possible: those that no agent has had come first, then the one that is free for longest.
 */
export class UidAllocation {
  readonly #uids = new Map<string, number>();
  #released: number[] = [];
  #unused: number;
  #saving: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    private readonly base: number,
    private readonly size: number,
  ) {
    this.#unused = base;
  }

  /**
   * `instance` spreads the hosts of one machine over different ranges; `base` sets the range explicitly. Throws
   * `ConfigError` if the file cannot be read: new agents would get the users, and so the files, of existing ones.
   */
  static async open(
    file: string,
    instance: string,
    base: number | undefined,
    size: number = BLOCK,
  ): Promise<UidAllocation> {
    const allocation = new UidAllocation(file, base ?? (await defaultBase(instance)), size);
    const stored = await readStored(file, UIDS);
    if (stored !== undefined) allocation.#restore(stored);
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
    const uid = this.#unused < this.#end ? this.#unused++ : this.#released.shift();
    if (uid === undefined)
      throw new DriverError('host_exhausted', `All ${this.size} user ids for agents are taken.`);
    this.#uids.set(agentId, uid);
    await this.#save();
    return uid;
  }

  async release(agentId: string): Promise<void> {
    const uid = this.#uids.get(agentId);
    if (uid === undefined) return;
    this.#uids.delete(agentId);
    if (this.#isInBlock(uid)) this.#released.push(uid);
    await this.#save();
  }

  get #end(): number {
    return this.base + this.size;
  }

  #isInBlock(uid: number): boolean {
    return uid >= this.base && uid < this.#end;
  }

  /** After a change of the range, ids outside of it stay with their agents. */
  #restore({ assigned, released, unused }: StoredUids): void {
    for (const [agentId, uid] of assigned) this.#uids.set(agentId, uid);
    const taken = new Set(this.#uids.values());
    const had = [unused - 1, ...taken].filter((uid) => this.#isInBlock(uid));
    this.#unused = Math.max(this.base, ...had.map((uid) => uid + 1));
    const free = new Set(released.filter((uid) => this.#isInBlock(uid)));
    for (let uid = this.base; uid < this.#unused; uid++) free.add(uid);
    this.#released = [...free].filter((uid) => !taken.has(uid));
  }

  #save(): Promise<void> {
    const stored = {
      assigned: Object.fromEntries(this.#uids),
      released: this.#released,
      unused: this.#unused,
    };
    const saved = this.#saving
      .catch(() => undefined)
      .then(() => writeDurably(this.file, JSON.stringify(stored)));
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
