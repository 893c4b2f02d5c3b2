import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hierarchy } from '../cgroup/cgroup-hierarchies.js';
import { AgentGroups } from './agent-groups.js';
import { joining } from './joining.js';
import { AGENT_USER } from './paths-inside.js';

const OWNER = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const LIMITS = { memoryBytes: 1_000_000, processes: 50 };

describe('the control groups of an agent', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'berth-groups-'));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const hierarchy = (name: string, version: 1 | 2, controllers: Hierarchy['controllers']): Hierarchy => {
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    return { version, folder, controllers, freezes: version === 2 };
  };
  const content = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');
  /** What the kernel creates with a group. */
  const withFiles = (path: string, procs = ''): void => {
    mkdirSync(join(root, path), { recursive: true });
    for (const file of ['cgroup.procs', 'cgroup.subtree_control', 'memory.max', 'pids.max'])
      writeFileSync(join(root, path, file), file === 'cgroup.procs' ? procs : '');
  };

  it('(version 1) limit the agent beside its container, in each hierarchy that limits something', async () => {
    const groups = new AgentGroups(
      [
        hierarchy('unified', 2, ['cpuacct']),
        hierarchy('memory', 1, ['memory']),
        hierarchy('pids', 1, ['pids']),
        hierarchy('cpuacct', 1, ['cpuacct']),
      ],
      'berth-abc',
      OWNER,
    );
    for (const name of ['memory', 'pids']) withFiles(join(name, 'agt_1'));
    expect(await groups.create('agt_1', LIMITS)).toEqual([
      { from: join(root, 'memory', 'agt_1', 'cgroup.procs'), to: '/.berth/groups/memory' },
      { from: join(root, 'pids', 'agt_1', 'cgroup.procs'), to: '/.berth/groups/pids' },
    ]);
    expect(content('memory', 'agt_1', 'memory.limit_in_bytes')).toBe('1000000');
    expect(content('pids', 'agt_1', 'pids.max')).toBe('50');
    expect(statSync(join(root, 'memory', 'agt_1', 'cgroup.procs')).mode & 0o777).toBe(0o600);
    expect(await groups.complete('agt_1', 'c1', LIMITS)).toEqual([
      '/.berth/groups/memory',
      '/.berth/groups/pids',
    ]);
    expect(groups.parentOf('agt_1')).toBeUndefined();
    expect([groups.nameOf('agt_1', 'c1'), groups.limitedOf('agt_1', 'c1')]).toEqual(['c1', 'agt_1']);
  });

  it('(version 2) divide the group of the container between the guest and the agent', async () => {
    const groups = new AgentGroups([hierarchy('sys', 2, ['cpuacct', 'memory', 'pids'])], 'berth-abc', OWNER);
    expect(await groups.create('agt_1', LIMITS)).toEqual([
      { from: join(root, 'sys', 'agt_1'), to: '/.berth/groups/unified' },
    ]);
    expect(groups.parentOf('agt_1')).toBe('/berth-abc/agt_1');
    const container = join('sys', 'agt_1', 'c1');
    withFiles(container, '4711\n');
    for (const group of ['guest', 'agent']) withFiles(join(container, group));
    expect(await groups.complete('agt_1', 'c1', LIMITS)).toEqual([
      '/.berth/groups/unified/c1/agent/cgroup.procs',
    ]);
    expect(content(container, 'guest', 'cgroup.procs')).toBe('4711');
    expect(content(container, 'cgroup.subtree_control')).toBe('+pids');
    expect([content(container, 'memory.max'), content(container, 'pids.max')]).toEqual(['max', 'max']);
    expect(content(container, 'agent', 'memory.max')).toBe('1000000');
    expect(content(container, 'agent', 'pids.max')).toBe('50');
    expect(Number(content(container, 'guest', 'memory.max'))).toBeGreaterThan(0);
    expect([groups.nameOf('agt_1', 'c1'), groups.limitedOf('agt_1', 'c1')]).toEqual([
      'agt_1/c1',
      'agt_1/c1/agent',
    ]);
  });

  it('are removed with the agent, and removing them again succeeds', async () => {
    const groups = new AgentGroups([hierarchy('memory', 1, ['memory'])], 'berth-abc', OWNER);
    mkdirSync(join(root, 'memory', 'agt_1'));
    await groups.remove('agt_1');
    expect(() => statSync(join(root, 'memory', 'agt_1'))).toThrow('ENOENT');
    await groups.remove('agt_1');
  });
});

describe('a process of an agent', () => {
  it('joins its groups before it becomes the agent’s, and is not started if it cannot', () => {
    const { launcher } = joining(AGENT_USER, ['/.berth/groups/memory', '/.berth/groups/pids']);
    const script = launcher?.indexOf('-c') ?? -1;
    expect(launcher?.[script + 1]).toBe(
      'echo 0 > /.berth/groups/memory || exit 125; echo 0 > /.berth/groups/pids || exit 125; exec "$@"',
    );
    expect(launcher?.slice(-(AGENT_USER.launcher?.length ?? 0))).toEqual(AGENT_USER.launcher);
  });

  it('of a container without such groups starts as before', () => {
    expect(joining(AGENT_USER, [])).toBe(AGENT_USER);
  });
});
