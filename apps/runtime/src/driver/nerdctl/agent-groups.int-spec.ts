import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hierarchy } from '../cgroup/cgroup-hierarchies.js';
import { AgentGroups } from './agent-groups.js';
import { joinProgram } from './join-program.plan.js';
import { joining } from './joining.js';
import { AGENT_IDS, JOIN, runAsUser } from './paths-inside.js';

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
    for (const file of ['cgroup.procs', 'tasks', 'cgroup.subtree_control', 'memory.max', 'pids.max'])
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
    expect(await groups.create('agt_1', LIMITS, 0)).toEqual([
      { from: join(root, 'memory', 'agt_1', 'tasks'), to: '/.berth/groups/memory' },
      { from: join(root, 'pids', 'agt_1'), to: '/.berth/groups/processes' },
    ]);
    expect(content('memory', 'agt_1', 'memory.limit_in_bytes')).toBe('1000000');
    expect(content('pids', 'agt_1', 'pids.max')).toBe('50');
    expect(statSync(join(root, 'memory', 'agt_1', 'tasks')).mode & 0o777).toBe(0o600);
    expect(await groups.complete('agt_1', 'c1', LIMITS, 0)).toEqual([
      '/.berth/groups/memory',
      '/.berth/groups/processes/tasks',
    ]);
    expect(groups.executionGroupsOf('c1')).toEqual({ version: 1, folder: '/.berth/groups/processes' });
    expect(groups.parentOf('agt_1')).toBeUndefined();
    expect([groups.nameOf('agt_1', 'c1'), groups.limitedOf('agt_1', 'c1')]).toEqual(['c1', 'agt_1']);
  });

  it('(version 2) divide the group of the container between the guest and the agent', async () => {
    const groups = new AgentGroups([hierarchy('sys', 2, ['cpuacct', 'memory', 'pids'])], 'berth-abc', OWNER);
    expect(await groups.create('agt_1', LIMITS, 0)).toEqual([
      { from: join(root, 'sys', 'agt_1'), to: '/.berth/groups/unified' },
    ]);
    expect(groups.parentOf('agt_1')).toBe('/berth-abc/agt_1');
    const container = join('sys', 'agt_1', 'c1');
    withFiles(container, '4711\n');
    for (const group of ['guest', 'agent']) withFiles(join(container, group));
    expect(await groups.complete('agt_1', 'c1', LIMITS, 0)).toEqual([
      '/.berth/groups/unified/c1/agent/cgroup.procs',
    ]);
    expect(groups.executionGroupsOf('c1')).toEqual({
      version: 2,
      folder: '/.berth/groups/unified/c1/agent',
    });
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

  it('are removed with the agent and those of its executions, and removing them again succeeds', async () => {
    const groups = new AgentGroups([hierarchy('memory', 1, ['memory'])], 'berth-abc', OWNER);
    mkdirSync(join(root, 'memory', 'agt_1', 'exe_1'), { recursive: true });
    await groups.remove('agt_1');
    expect(() => statSync(join(root, 'memory', 'agt_1'))).toThrow('ENOENT');
    await groups.remove('agt_1');
  });
});

describe('a process of an agent', () => {
  const user = runAsUser(AGENT_IDS);

  it('joins its groups before it becomes the agent’s', () => {
    const files = ['/.berth/groups/memory', '/.berth/groups/pids'];
    expect(joining(user, files).launcher).toEqual([JOIN, ...files, '--', ...(user.launcher ?? [])]);
  });

  it('of a container without such groups starts as before', () => {
    expect(joining(user, [])).toBe(user);
  });

  it('is never started beside its groups, whatever its user', () => {
    expect(() => joining({ uid: 0, gid: 0 }, ['/.berth/groups/memory'])).toThrow('launcher');
  });
});

describe('the program by which a process joins its groups', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-join-'));
    writeFileSync(join(folder, 'join'), joinProgram(process.arch), { mode: 0o755 });
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(join(folder, 'join'), args, { env, encoding: 'utf8', cwd: folder });

  it('writes to each file and passes arguments and environment on unchanged', () => {
    const files = ['a', 'b'].map((name) => join(folder, name));
    for (const file of files) writeFileSync(file, '');
    const env = { 'a.b': '1', UID: '7', _: 'x', EMPTY: '' };
    const shown = run(
      [
        ...files,
        '--',
        '/usr/bin/env',
        '--',
        '/bin/sh',
        '-c',
        'cat /proc/$$/environ; echo "$@"',
        '-',
        'c d',
        '--',
      ],
      env,
    );
    expect(shown.stdout).toBe(
      `${Object.entries(env)
        .map(([name, value]) => `${name}=${value}\0`)
        .join('')}c d --\n`,
    );
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['0', '0']);
  });

  it('does not start the command if it cannot join', () => {
    const command = ['--', '/bin/sh', '-c', `echo > ${join(folder, 'started')}`];
    const [absent, present] = [join(folder, 'absent'), join(folder, 'present')];
    writeFileSync(present, '');
    expect(run([present, absent, ...command]).status).toBe(125);
    // Refuses what is written to it, as a control group does that is full.
    expect(run(['/dev/full', ...command]).status).toBe(125);
    expect(run([present]).status).toBe(125);
    expect(existsSync(join(folder, 'started'))).toBe(false);
    expect(run([present, ...command]).status).toBe(0);
    expect(existsSync(join(folder, 'started'))).toBe(true);
  });

  it('exists for the processors that Node names x64 and arm64 only', () => {
    expect(joinProgram('arm64').subarray(18, 20)).toEqual(Buffer.from([183, 0]));
    expect(() => joinProgram('ia32')).toThrow('ia32');
  });
});
