import type { AgentAddresses, NetworkPlan } from './network-plan.js';

/** An agent's pair of interfaces: one on the host, `eth0` inside. */
export interface AgentLink {
  /** Name on the host. */
  readonly name: string;
  /** Shown by `ip link`. */
  readonly alias: string;
  readonly addresses: AgentAddresses;
}

/** Name of the interface inside. */
const INSIDE = 'eth0';

/** Whether this host's kernel has IPv6 at all. Without it, no option of IPv6 may be set. */
export interface KernelIpv6 {
  readonly hasIpv6: boolean;
}

/** Batches for `ip -batch -`, a command a line. */
const batch = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

/** Prevents the automatic link-local IPv6 address of an interface. */
const withoutOwnAddress = (name: string, { hasIpv6 }: KernelIpv6): string[] =>
  hasIpv6 ? [`link set dev ${name} addrgenmode none`] : [];

/** The gateway's address, and the agents' network, which leads nowhere unless an agent has the address. */
export const anchorBatch = (
  { anchor, gateway4, subnet4, gateway6 }: NetworkPlan,
  kernel: KernelIpv6,
): string =>
  batch([
    `link add name ${anchor} type bridge`,
    ...withoutOwnAddress(anchor, kernel),
    // An IPv6 address makes its route only on an interface that is up.
    `link set dev ${anchor} up`,
    `addr add ${gateway4}/${subnet4.split('/')[1] ?? ''} dev ${anchor}`,
    ...(gateway6 === null ? [] : [`addr add ${gateway6}/64 dev ${anchor} nodad`]),
  ]);

/** The host's side. `namespace`: path of the agent's network namespace. */
export const hostBatch = (
  { gateway4, gateway6 }: NetworkPlan,
  { name, alias, addresses }: AgentLink,
  namespace: string,
  kernel: KernelIpv6,
): string =>
  batch([
    `link add name ${name} type veth peer name ${INSIDE} netns ${namespace}`,
    `link set dev ${name} alias ${alias}`,
    ...withoutOwnAddress(name, kernel),
    `link set dev ${name} up`,
    `addr add ${gateway4} peer ${addresses.ipv4}/32 dev ${name}`,
    ...(gateway6 === null || addresses.ipv6 === null
      ? []
      : [`addr add ${gateway6} peer ${addresses.ipv6}/128 dev ${name} nodad`]),
  ]);

/** The side of the agent, for `ip` in the agent's network namespace. */
export const insideBatch = (
  { gateway4, gateway6 }: NetworkPlan,
  { addresses }: AgentLink,
  kernel: KernelIpv6,
): string =>
  batch([
    ...withoutOwnAddress(INSIDE, kernel),
    `link set dev ${INSIDE} up`,
    `addr add ${addresses.ipv4} peer ${gateway4}/32 dev ${INSIDE}`,
    ...(gateway6 === null || addresses.ipv6 === null
      ? []
      : [`addr add ${addresses.ipv6} peer ${gateway6}/128 dev ${INSIDE} nodad`]),
    `route add default via ${gateway4} dev ${INSIDE}`,
    ...(gateway6 === null || addresses.ipv6 === null
      ? []
      : [`route add default via ${gateway6} dev ${INSIDE} onlink`]),
  ]);

export const removalBatch = (names: readonly string[]): string =>
  batch(names.map((name) => `link del dev ${name}`));

/** Networks and addresses in the output of `ip -json -4 route show table all`, without those on `own` interfaces. */
export const parseTakenNetworks = (output: string, own: readonly string[]): readonly string[] => {
  const routes: unknown = JSON.parse(output === '' ? '[]' : output);
  if (!Array.isArray(routes)) return [];
  return routes.flatMap((route: { readonly dst?: unknown; readonly dev?: unknown }) =>
    typeof route.dst !== 'string' || !/^\d/.test(route.dst) || own.includes(String(route.dev))
      ? []
      : [route.dst],
  );
};

/** Names of the interfaces in `/proc/net/dev`. */
export const parseInterfaces = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*([^\s:|]+):/gm)].map(([, name = '']) => name);
