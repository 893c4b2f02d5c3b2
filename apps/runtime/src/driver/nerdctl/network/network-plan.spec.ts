import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hostBatch, insideBatch, parseInterfaces, parseTakenNetworks } from './link-batches.js';
import {
  addressesOf,
  linkOf,
  MOST_AGENTS,
  ownInterfaces,
  planNetwork,
  type NetworkPlan,
} from './network-plan.js';
import { ruleSet } from './rule-set.js';

const INSTANCE = '0003aabbccdd';
const NONE = { mode: 'none', allow: [], dns: [] } as const;
const PUBLIC = { mode: 'public', allow: [], dns: [] } as const;
const PORTS = { udp: 4_001, tcp: 4_002 };

const planOf = (taken: readonly string[] = [], offersIpv6 = true): NetworkPlan => {
  const plan = planNetwork(INSTANCE, taken, offersIpv6);
  if (plan === undefined) throw new Error('There is no plan.');
  return plan;
};

describe('the network of an installation', () => {
  it('bears the name of the instance everywhere, in names that Linux takes', () => {
    const plan = planOf();
    expect(plan).toMatchObject({
      table: 'berth-0003aabbccdd',
      anchor: 'b0003aabnet',
      linkPrefix: 'b0003aab-',
    });
    expect(linkOf(plan, MOST_AGENTS - 1).length).toBeLessThanOrEqual(15);
    const names = ['lo', 'b0003aabnet', 'b0003aab-7', 'b0003aacnet', 'eth0'];
    expect(ownInterfaces(INSTANCE, names)).toEqual(['b0003aabnet', 'b0003aab-7']);
  });

  it('is a part of 198.18.0.0/15 that the instance chooses, or the next one that the host does not use', () => {
    expect(planOf()).toMatchObject({ subnet4: '198.18.48.0/20', gateway4: '198.18.48.1' });
    expect(planOf(['198.18.63.255']).subnet4).toBe('198.18.64.0/20');
    expect(planOf(['198.18.48.0/24', '198.18.64.0/19', '10.0.0.0/8']).subnet4).toBe('198.18.96.0/20');
    expect(planOf(['198.18.0.0/16']).subnet4).toBe('198.19.0.0/20');
    expect(planNetwork(INSTANCE, ['198.18.0.0/15'], true)).toBeUndefined();
  });

  it('gives each agent addresses of its own within the part, never those of the gateway', () => {
    const plan = planOf();
    expect(addressesOf(plan, 0)).toEqual({ ipv4: '198.18.48.2', ipv6: 'fd00:03aa:bbcc::2' });
    expect(addressesOf(plan, MOST_AGENTS - 1)).toEqual({
      ipv4: '198.18.63.254',
      ipv6: 'fd00:03aa:bbcc::ffe',
    });
    expect(addressesOf(planOf([], false), 0).ipv6).toBeNull();
  });

  it('sees the networks of the host, without those of its own interfaces', () => {
    const routes = JSON.stringify([
      { dst: 'default', gateway: '192.0.2.1', dev: 'eth0' },
      { dst: '198.18.48.0/20', dev: 'b0003aabnet' },
      { dst: '198.18.64.0/20', dev: 'b1111111net' },
      { type: 'local', dst: '192.0.2.7', dev: 'eth0' },
    ]);
    expect(parseTakenNetworks(routes, ['b0003aabnet'])).toEqual(['198.18.64.0/20', '192.0.2.7']);
    expect(parseInterfaces('Inter-|   Receive\n face |bytes\n    lo: 0 0\nb1-2:12 0\n')).toEqual([
      'lo',
      'b1-2',
    ]);
  });
});

describe('the link of an agent', () => {
  const link = { name: 'b0003aab-0', alias: 'agt_1', addresses: addressesOf(planOf(), 0) };

  it('has no self-assigned address, and no IPv6 on a host without IPv6', () => {
    const kernel = { hasIpv6: true };
    expect(hostBatch(planOf(), link, '/proc/7/ns/net', kernel)).toMatch(
      /^link add .* netns \/proc\/7\/ns\/net\n/,
    );
    expect(insideBatch(planOf(), link, kernel)).toContain('link set dev eth0 addrgenmode none\n');
    const without = { ...link, addresses: addressesOf(planOf([], false), 0) };
    const batches = [
      hostBatch(planOf([], false), without, '/proc/7/ns/net', { hasIpv6: false }),
      insideBatch(planOf([], false), without, { hasIpv6: false }),
    ].join('');
    expect(batches).not.toMatch(/addrgenmode|::/);
  });
});

describe('the rules', () => {
  it('replace the table of the installation and name no other', () => {
    const rules = ruleSet(planOf(), PUBLIC, PORTS);
    expect(rules.match(/table inet \S+/g)).toEqual(
      Array.from({ length: 3 }, () => 'table inet berth-0003aabbccdd'),
    );
    expect(rules).not.toContain('flush');
  });

  it('lead queries to Berth’s resolver only if the operator names no other', () => {
    expect(ruleSet(planOf(), PUBLIC, PORTS)).toContain('dnat ip to 198.18.48.1:4001');
    const named = ruleSet(planOf(), { ...PUBLIC, dns: ['10.0.0.53', 'fd00::53'] }, PORTS);
    expect(named).not.toContain('dnat');
    expect(named).toContain('ip daddr 10.0.0.53 meta l4proto { tcp, udp } th dport 53 accept');
    expect(named).toContain('ip6 daddr fd00::53 meta l4proto { tcp, udp } th dport 53 accept');
  });

  it('open what the operator allows before they close private networks, but after they close the host', () => {
    const rules = ruleSet(
      planOf(),
      { ...PUBLIC, allow: [{ family: 4, range: '10.1.2.0/24', port: 5432 }] },
      PORTS,
    );
    const opened = rules.indexOf('ip daddr 10.1.2.0/24 meta l4proto { tcp, udp } th dport 5432 accept');
    expect(opened).toBeGreaterThan(0);
    expect(opened).toBeLessThan(rules.indexOf('ip daddr @closed4 goto refuse'));
    const closesHost = rules.indexOf('fib daddr type != unicast goto refuse');
    expect(closesHost).toBeGreaterThan(0);
    expect(closesHost).toBeLessThan(rules.indexOf('jump outward'));
  });

  it('close every network that is not public', () => {
    const rules = ruleSet(planOf(), PUBLIC, PORTS);
    const closedIn = (family: 'ipv4' | 'ipv6'): BlockList => {
      const set = new RegExp(`type ${family}_addr; flags interval; elements = { ([^}]*) }`);
      const closed = new BlockList();
      for (const network of set.exec(rules)?.[1]?.split(', ') ?? []) {
        const [address = '', bits] = network.split('/');
        closed.addSubnet(address, Number(bits), family);
      }
      return closed;
    };
    // Apart, because an IPv4 address would match a network of mapped ones.
    const closed = { ipv4: closedIn('ipv4'), ipv6: closedIn('ipv6') };
    const isClosed = (address: string): boolean => {
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      return closed[family].check(address, family);
    };
    const metadata = ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe'];
    const ipv4 = ['10.1.2.3', '100.64.0.1', '127.0.0.1', '172.31.255.255', '192.168.1.1', '198.19.255.254'];
    const ipv6 = [
      '::1',
      '::ffff:10.1.2.3',
      'fc00::1',
      'fe80::1',
      'ff02::1',
      '2002:a00:1::',
      '64:ff9b::c0a8:101',
    ];
    const special = [...metadata, ...ipv4, '224.0.0.1', '240.0.0.1', ...ipv6];
    expect(special.filter((address) => !isClosed(address))).toEqual([]);
    const open = ['1.1.1.1', '172.32.0.1', '192.0.2.1', '2606:4700::1111', '64:ff9b::101:101'];
    expect(open.filter(isClosed)).toEqual([]);
  });

  it('refuse everything if the operator closes the network', () => {
    const rules = ruleSet(planOf(), { ...NONE, dns: ['192.0.2.53'] }, PORTS);
    expect(rules).toContain('chain outward {\n    goto refuse\n  }');
    expect(rules).not.toMatch(/dport/);
  });

  it('reject all IPv6 packets of agents that have no IPv6', () => {
    expect(ruleSet(planOf([], false), PUBLIC, PORTS)).toContain('meta nfproto ipv6 goto refuse');
    expect(ruleSet(planOf(), PUBLIC, PORTS)).not.toContain('meta nfproto ipv6 goto refuse');
  });
});
