import { readFile, writeFile } from 'node:fs/promises';
import type { NetworkSettings } from '@berth/operator-file';
import { pause } from '@berth/supervision';
import { metrics, type Logger } from '@berth/telemetry';
import { becomesTrue } from '../../../poll.js';
import { DriverError } from '../../driver-error.js';
import { isAlive, type ProcessIdentity } from '../../process-table.js';
import { DnsForwarder } from './dns-forwarder.js';
import { HostResolvers } from './host-resolvers.js';
import {
  anchorBatch,
  hostBatch,
  insideBatch,
  parseInterfaces,
  parseTakenNetworks,
  removalBatch,
  type AgentLink,
  type KernelIpv6,
} from './link-batches.js';
import { NetworkCommands } from './network-commands.js';
import {
  addressesOf,
  linkOf,
  MOST_AGENTS,
  ownInterfaces,
  planNetwork,
  type NetworkPlan,
} from './network-plan.js';
import { ruleSet, ruleSetRemoval, withoutCounters } from './rule-set.js';

export interface AgentNetworkOptions {
  readonly instance: string;
  /** Folders in which programs are looked for. */
  readonly path: string;
  /** File for the agents' `/etc/resolv.conf`. */
  readonly resolvConf: string;
  /** The host's own `/etc/resolv.conf`. */
  readonly hostResolvConf?: string;
  /** The operator's settings, which may change. */
  readonly settings: () => NetworkSettings;
  /** Between two checks of `keepUp`. */
  readonly checkEveryMs?: number;
  readonly log: Logger;
}

const CHECK_EVERY_MS = 60_000;
const RELEASED_WITHIN_MS = 2_000;
/** Unlike /sys/class/net, always that of the network namespace of this process. */
const INTERFACES = '/proc/self/net/dev';
const FORWARDING_4 = '/proc/sys/net/ipv4/ip_forward';
const FORWARDING_6 = '/proc/sys/net/ipv6/conf/all/forwarding';

const repairs = metrics.counter(
  'berth_network_policy_repairs',
  'Times that the network policy of agents was missing or changed on the host, and was put in force again.',
);

/** The network of the agents of one installation, and the policy that it is under. */
export class AgentNetwork {
  readonly #starting = new Set<string>();
  /** The policy as it was last put in force: what was asked for, and how nft lists it. */
  #inForce: { readonly wanted: string; readonly listed: string | undefined } | undefined;
  #lastIndex = -1;
  #check: Promise<void> = Promise.resolve();
  #nextCheck: Promise<void> | undefined;

  private constructor(
    private readonly options: AgentNetworkOptions,
    private readonly plan: NetworkPlan,
    private readonly kernel: KernelIpv6,
    private readonly commands: NetworkCommands,
    private readonly forwarder: DnsForwarder,
  ) {}

  /** Takes over what an earlier process of the installation has left. Errors: `host_unsuitable`. */
  static async open(options: AgentNetworkOptions): Promise<AgentNetwork> {
    const { instance, path, hostResolvConf = '/etc/resolv.conf' } = options;
    const commands = NetworkCommands.find(path);
    const kernel = { hasIpv6: (await readSetting(FORWARDING_6)) !== undefined };
    const own = await interfacesOf(instance);
    const taken = parseTakenNetworks(await commands.routes(4), own);
    const plan = planNetwork(instance, taken, await offersIpv6(commands));
    if (plan === undefined)
      throw new DriverError(
        'host_unsuitable',
        'The host uses all of 198.18.0.0/15: agents have no addresses.',
      );
    // What is left of another plan, for example since the host got or lost IPv6.
    if (own.includes(plan.anchor)) await commands.configure(removalBatch([plan.anchor]));
    await commands.configure(anchorBatch(plan, kernel));
    const forwarder = await DnsForwarder.open(plan.gateway4, new HostResolvers(hostResolvConf));
    const network = new AgentNetwork(options, plan, kernel, commands, forwarder);
    await network.check().catch(async (error: unknown) => {
      await network.close(false);
      throw error;
    });
    return network;
  }

  /** File of the host for the agents' `/etc/resolv.conf`. */
  get resolvConf(): string {
    return this.options.resolvConf;
  }

  /** What an agent may ask for at present. */
  get offered(): readonly ('public' | 'none')[] {
    return this.options.settings().mode === 'public' ? ['public', 'none'] : ['none'];
  }

  /**
   * Connects the network namespace of a process, which has loopback only, under the policy in force. The kernel removes
   * the connection with the namespace. `name`: for the operator. Errors: `host_exhausted`, `guest_not_started`.
   */
  async connect(name: string, process: ProcessIdentity): Promise<void> {
    const link = await this.#reserve(name);
    const namespace = `/proc/${process.pid}/ns/net`;
    try {
      const onHost = hostBatch(this.plan, link, namespace, this.kernel);
      await Promise.all([this.check(), this.commands.configure(onHost)]);
      await this.commands.configureInside(namespace, insideBatch(this.plan, link, this.kernel));
      // Another process may have its number, and another namespace, by now.
      if (!(await isAlive(process)))
        throw new DriverError('guest_not_started', 'The guest exited immediately after its launch.');
    } catch (error) {
      await this.commands.configure(removalBatch([link.name])).catch(() => undefined);
      throw error;
    } finally {
      this.#starting.delete(link.name);
    }
  }

  /** Repairs what is missing. Callers at the same time share one check that begins after their calls. */
  check(): Promise<void> {
    this.#nextCheck ??= this.#check.then(() => {
      this.#nextCheck = undefined;
      const checking = this.#repair();
      this.#check = checking.catch(() => undefined);
      return checking;
    });
    return this.#nextCheck;
  }

  /** Checks regularly until the signal aborts; throws when a check fails. */
  async keepUp(signal: AbortSignal): Promise<void> {
    const { checkEveryMs = CHECK_EVERY_MS } = this.options;
    while (!signal.aborted) {
      await this.check();
      await pause(checkEveryMs, signal);
    }
  }

  /** Removes all that is on the host, unless agents still run: they keep their network and its policy. */
  async close(agentsLiveOn: boolean): Promise<void> {
    await this.#check;
    await this.forwarder.close();
    const agents = async (): Promise<readonly string[]> =>
      (await this.#interfaces()).filter((name) => name !== this.plan.anchor);
    if (agentsLiveOn) return;
    // The kernel removes a namespace shortly after its last process.
    await becomesTrue(async () => (await agents()).length === 0, RELEASED_WITHIN_MS);
    // It may remove one of them first.
    for (const name of await this.#interfaces())
      await this.commands.configure(removalBatch([name])).catch(() => undefined);
    await this.commands.applyRules(ruleSetRemoval(this.plan.table));
  }

  async #repair(): Promise<void> {
    const settings = this.options.settings();
    const wanted = ruleSet(this.plan, settings, this.forwarder.ports);
    const listed = await this.#listed();
    if (wanted !== this.#inForce?.wanted || listed === undefined || listed !== this.#inForce.listed) {
      if (wanted === this.#inForce?.wanted) {
        repairs.inc();
        this.options.log.warn('the network policy of agents was not in force any more; it is again');
      }
      await this.commands.applyRules(wanted);
      this.#inForce = { wanted, listed: await this.#listed() };
      await writeFile(this.options.resolvConf, resolvConfOf(this.plan, settings), { mode: 0o644 });
    }
    if (!(await this.#interfaces()).includes(this.plan.anchor))
      await this.commands.configure(anchorBatch(this.plan, this.kernel));
    if (settings.mode === 'public' && (await readSetting(FORWARDING_4)) === '0')
      await writeFile(FORWARDING_4, '1');
  }

  async #listed(): Promise<string | undefined> {
    const listed = await this.commands.rulesOf(this.plan.table);
    return listed === undefined ? undefined : withoutCounters(listed);
  }

  async #reserve(name: string): Promise<AgentLink> {
    const taken = new Set([...this.#starting, ...(await this.#interfaces())]);
    for (let step = 1; step <= MOST_AGENTS; step++) {
      const index = (this.#lastIndex + step) % MOST_AGENTS;
      const link = linkOf(this.plan, index);
      // Between here and the look at `#starting` above, another start may have taken it.
      if (taken.has(link) || this.#starting.has(link)) continue;
      this.#lastIndex = index;
      this.#starting.add(link);
      return { name: link, alias: name, addresses: addressesOf(this.plan, index) };
    }
    throw new DriverError('host_exhausted', 'This host has no address for another agent.');
  }

  #interfaces(): Promise<readonly string[]> {
    return interfacesOf(this.options.instance);
  }
}

const interfacesOf = async (instance: string): Promise<readonly string[]> =>
  ownInterfaces(instance, parseInterfaces(await readFile(INTERFACES, 'utf8')));

/**
 * Agents have IPv6 if the host forwards it and has a way out. To switch forwarding on is left to the operator, because a
 * host that forwards does not take its own addresses and routes from routers any more.
 */
const offersIpv6 = async (commands: NetworkCommands): Promise<boolean> =>
  (await readSetting(FORWARDING_6)) === '1' && /"dst":"default"/.test(await commands.routes(6));

const resolvConfOf = ({ gateway4 }: NetworkPlan, { dns }: NetworkSettings): string =>
  (dns.length === 0 ? [gateway4] : dns).map((address) => `nameserver ${address}\n`).join('');

const readSetting = async (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').then(
    (value) => value.trim(),
    () => undefined,
  );
