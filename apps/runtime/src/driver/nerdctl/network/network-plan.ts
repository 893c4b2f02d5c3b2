import { namespaceOf } from '@berth/host-requirements';

/** Addresses of one agent. */
export interface AgentAddresses {
  readonly ipv4: string;
  /** null: agents have no IPv6. */
  readonly ipv6: string | null;
}

/** The network of the agents of one installation: everything that it has on the host bears a name from here. */
export interface NetworkPlan {
  /** Table of nftables, of the family inet. */
  readonly table: string;
  /** Interface that holds the gateway's address while no agent is awake. */
  readonly anchor: string;
  /** The prefix of the names of the agents' interfaces. */
  readonly linkPrefix: string;
  readonly subnet4: string;
  readonly gateway4: string;
  /** null: agents have no IPv6. */
  readonly subnet6: string | null;
  readonly gateway6: string | null;
}

/**
 * Benchmark networks (RFC 2544), which neither the Internet nor private networks use. Each installation of a host takes
 * one slice.
 */
export const AGENTS_RANGE = '198.18.0.0/15';
const SLICE_BITS = 20;
const SLICES = 32;
const SLICE_SIZE = 2 ** (32 - SLICE_BITS);
/** Agents that one installation can have awake: the slice without its first two and its last address. */
export const MOST_AGENTS = SLICE_SIZE - 3;

/** Interfaces have names of at most 15 bytes. */
const nameOf = (instance: string): string => `b${instance.slice(0, 7)}`;

/**
 * The network of an installation, in the first slice that overlaps with none of `taken`, which are the IPv4 networks of
 * the host that are not the installation's own. undefined: all are taken.
 */
export const planNetwork = (
  instance: string,
  taken: readonly string[],
  offersIpv6: boolean,
): NetworkPlan | undefined => {
  const preferred = Number.parseInt(instance.slice(0, 4), 16) % SLICES;
  const base = Array.from({ length: SLICES }, (_, step) => sliceAt((preferred + step) % SLICES)).find(
    (candidate) => !taken.some((network) => overlaps(candidate, network)),
  );
  if (base === undefined) return undefined;
  const prefix6 = `fd${instance.slice(0, 2)}:${instance.slice(2, 6)}:${instance.slice(6, 10)}:`;
  return {
    table: namespaceOf(instance),
    anchor: `${nameOf(instance)}net`,
    linkPrefix: `${nameOf(instance)}-`,
    subnet4: `${toText(base)}/${SLICE_BITS}`,
    gateway4: toText(base + 1),
    subnet6: offersIpv6 ? `${prefix6}:/64` : null,
    gateway6: offersIpv6 ? `${prefix6}:1` : null,
  };
};

/** Names of everything that an installation may have created on the host, under any of its plans. */
export const ownInterfaces = (instance: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => name === `${nameOf(instance)}net` || name.startsWith(`${nameOf(instance)}-`));

/** `index`: 0 to MOST_AGENTS − 1. */
export const addressesOf = ({ gateway4, gateway6 }: NetworkPlan, index: number): AgentAddresses => ({
  ipv4: toText(toNumber(gateway4) + 1 + index),
  ipv6: gateway6 === null ? null : gateway6.replace(/1$/, (index + 2).toString(16)),
});

export const linkOf = ({ linkPrefix }: NetworkPlan, index: number): string => `${linkPrefix}${index}`;

const sliceAt = (number: number): number => toNumber('198.18.0.0') + number * SLICE_SIZE;

const overlaps = (base: number, network: string): boolean => {
  const [address = '', bits = '32'] = network.split('/');
  const size = 2 ** (32 - Number(bits));
  const first = Math.floor(toNumber(address) / size) * size;
  return first < base + SLICE_SIZE && base < first + size;
};

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const toText = (address: number): string =>
  [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
