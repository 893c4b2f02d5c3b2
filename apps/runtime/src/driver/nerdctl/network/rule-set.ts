import type { NetworkDestination, NetworkSettings } from '@berth/operator-file';
import { AGENTS_RANGE, type NetworkPlan } from './network-plan.js';

/** Ports on which Berth's resolver listens at the gateway's address. */
export interface ResolverPorts {
  readonly udp: number;
  readonly tcp: number;
}

/** Private, shared, link-local, multicast and other special networks (IANA's registry of special-purpose addresses). */
const CLOSED_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The metadata service of a cloud that has it on a public address.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  AGENTS_RANGE,
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;

/** Also what carries an IPv4 address that may be a private one: mapped, translated, 6to4, Teredo, and NAT64 with a local prefix. */
const CLOSED_6 = [
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  ...CLOSED_4.map((network) => {
    const [address = '', bits] = network.split('/');
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    return `64:ff9b::${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}/${96 + Number(bits)}`;
  }),
] as const;

/**
 * Connections of one agent that the kernel tracks at a time, with those that have just ended: its table is shared with
 * all other agents and with the host, and has 262,144 entries on hosts of usual size.
 */
export const MOST_CONNECTIONS = 8_192;
const COUNTED = { counted4: 'ip', counted6: 'ip6' } as const;

const NEIGHBOUR_DISCOVERY = 'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept';
const DNS = 'meta l4proto { tcp, udp } th dport 53';

/** What the chains are built from. */
interface Terms {
  readonly plan: NetworkPlan;
  readonly settings: NetworkSettings;
  readonly resolver: ResolverPorts;
  /** The agents' interfaces. */
  readonly agents: string;
  /** Whether agents ask Berth's own resolver. */
  readonly asksBerth: boolean;
  /** Rules that IPv6 needs on a link. */
  readonly discovery: readonly string[];
}

/**
 * The text for `nft -f -` that puts the policy of an installation in force, in one transaction, whatever was there
 * before. It refers to agents by the names of their interfaces, so it is the same for any number of them. Arriving
 * packets are judged before another table can give them a new destination, and forwarded ones again after that.
 */
export const ruleSet = (plan: NetworkPlan, settings: NetworkSettings, resolver: ResolverPorts): string => {
  const { table } = plan;
  const isPublic = settings.mode === 'public';
  const terms = {
    plan,
    settings,
    resolver,
    agents: `"${plan.linkPrefix}*"`,
    asksBerth: isPublic && settings.dns.length === 0,
    discovery: plan.subnet6 === null ? [] : [NEIGHBOUR_DISCOVERY],
  };
  return [
    `add table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    set('closed4', 'ipv4_addr', CLOSED_4),
    set('closed6', 'ipv6_addr', CLOSED_6),
    ...Object.entries(COUNTED).map(([name, family]) => counters(name, family)),
    chain('refuse', ['meta l4proto tcp reject with tcp reset', 'reject with icmpx type port-unreachable']),
    chain('resolvers', isPublic ? settings.dns.map(resolverRule) : []),
    chain('outward', isPublic ? outward(settings.allow) : ['goto refuse']),
    chain('arrival', arrival(terms)),
    chain('own_resolver', ownResolver(terms)),
    chain('to_host', toHost(terms)),
    chain('passage', passage(terms)),
    chain('from_host', fromHost(terms)),
    chain('departure', departure(terms)),
    '}',
    '',
  ].join('\n');
};

const arrival = ({ plan: { gateway4, subnet6 }, agents, asksBerth, discovery }: Terms): string[] => [
  'type filter hook prerouting priority raw - 10; policy accept;',
  `iifname != ${agents} return`,
  ...discovery,
  'fib saddr . iif oif 0 drop',
  ...(asksBerth ? [`ip daddr ${gateway4} ${DNS} accept`] : []),
  'jump resolvers',
  'fib daddr type != unicast goto refuse',
  `ip daddr ${AGENTS_RANGE} goto refuse`,
  subnet6 === null ? 'meta nfproto ipv6 goto refuse' : `ip6 daddr ${subnet6} goto refuse`,
  'jump outward',
];

const ownResolver = ({ plan: { gateway4 }, resolver, agents, asksBerth }: Terms): string[] => [
  'type nat hook prerouting priority dstnat - 10; policy accept;',
  `iifname != ${agents} return`,
  ...(asksBerth
    ? (['udp', 'tcp'] as const).map(
        (by) => `ip daddr ${gateway4} ${by} dport 53 dnat ip to ${gateway4}:${resolver[by]}`,
      )
    : []),
];

const toHost = ({ plan, resolver, agents, asksBerth, discovery }: Terms): string[] => [
  'type filter hook input priority filter - 10; policy accept;',
  'iifname "lo" return',
  `iifname != ${agents} ip daddr ${plan.subnet4} goto refuse`,
  ...(plan.subnet6 === null ? [] : [`iifname != ${agents} ip6 daddr ${plan.subnet6} goto refuse`]),
  `iifname != ${agents} return`,
  ...discovery,
  ...(asksBerth
    ? (['udp', 'tcp'] as const).map((by) => `ip daddr ${plan.gateway4} ${by} dport ${resolver[by]} accept`)
    : []),
  'jump resolvers',
  'goto refuse',
];

const passage = ({ agents }: Terms): string[] => [
  'type filter hook forward priority filter - 10; policy accept;',
  `iifname ${agents} oifname ${agents} goto refuse`,
  ...Object.entries(COUNTED).map(
    ([name, family]) =>
      `iifname ${agents} ct state new add @${name} { ${family} saddr ct count over ${MOST_CONNECTIONS} } goto refuse`,
  ),
  `iifname ${agents} jump resolvers`,
  `iifname ${agents} jump outward`,
  `oifname != ${agents} return`,
  'ct state established,related accept',
  'goto refuse',
];

const fromHost = ({ agents, discovery }: Terms): string[] => [
  'type filter hook output priority filter - 10; policy accept;',
  `oifname != ${agents} return`,
  'ct state established,related accept',
  // What the refusals above send.
  'tcp flags & rst == rst accept',
  'icmp type { destination-unreachable, time-exceeded, parameter-problem } accept',
  'icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem } accept',
  ...discovery,
  'goto refuse',
];

const departure = ({ plan: { subnet4, gateway4, subnet6, gateway6 }, agents }: Terms): string[] => [
  'type nat hook postrouting priority srcnat - 10; policy accept;',
  `ip saddr ${subnet4} ip saddr != ${gateway4} oifname != ${agents} masquerade`,
  ...(subnet6 === null || gateway6 === null
    ? []
    : [`ip6 saddr ${subnet6} ip6 saddr != ${gateway6} oifname != ${agents} masquerade`]),
];

/** Removes the policy; a no-op if there is none. */
export const ruleSetRemoval = (table: string): string =>
  `add table inet ${table}\ndelete table inet ${table}\n`;

const outward = (allow: readonly NetworkDestination[]): string[] => [
  ...allow.map(
    ({ family, range, port }) =>
      `${addressField(family)} daddr ${range} ${port === null ? '' : `meta l4proto { tcp, udp } th dport ${port} `}accept`,
  ),
  'ip daddr @closed4 goto refuse',
  'ip6 daddr @closed6 goto refuse',
];

const resolverRule = (address: string): string =>
  `${addressField(address.includes(':') ? 6 : 4)} daddr ${address} ${DNS} accept`;

const addressField = (family: 4 | 6): string => (family === 4 ? 'ip' : 'ip6');

const set = (name: string, type: string, elements: readonly string[]): string =>
  `  set ${name} { type ${type}; flags interval; elements = { ${elements.join(', ')} } }`;

/** One counter for each address, which the kernel adds with its first connection. */
const counters = (name: string, family: 'ip' | 'ip6'): string =>
  `  set ${name} { type ${family === 'ip' ? 'ipv4_addr' : 'ipv6_addr'}; size 65535; flags dynamic; }`;

/** The rules of a table as nft lists them, without the counters of agents, which come and go. */
export const withoutCounters = (listed: string): string =>
  listed.replaceAll(/(set counted[46] \{[^{}]*?)\s*elements = \{[^}]*\}/g, '$1');

const chain = (name: string, lines: readonly string[]): string =>
  [`  chain ${name} {`, ...lines.map((line) => `    ${line}`), '  }'].join('\n');
