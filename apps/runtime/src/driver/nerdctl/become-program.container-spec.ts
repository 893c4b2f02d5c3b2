import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { becomeProgram } from './become-program.plan.js';
import { fifoProgram } from './fifo-program.plan.js';
import { joinProgram } from './join-program.plan.js';
import { namespaceProgram } from './namespace-program.plan.js';
import { sealProgram } from './seal-program.plan.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-become-'));
  writeFileSync(join(folder, 'become'), becomeProgram(process.arch), { mode: 0o755 });
  writeFileSync(join(folder, 'mkfifo'), fifoProgram(process.arch), { mode: 0o755 });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FAILED = 'incomplete arguments, or refused by the kernel';
const STATUS = ['/bin/cat', '/proc/self/status'];
const NO_CAPABILITY = Array.from({ length: 5 }, () => '0000000000000000');

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  spawnSync(join(folder, 'become'), args, { env, encoding: 'utf8', cwd: folder });

const capabilitiesIn = (status: string): (string | undefined)[] =>
  [...status.matchAll(/^Cap\w+:\s+([0-9a-f]+)$/gm)].map(([, bits]) => bits);

describe('the program by which a process becomes the agent’s user', () => {
  it('becomes that user with those groups, without capabilities and new privileges', () => {
    const { stdout, status } = run(['1234', '77', '0', '5', '65000', '--', ...STATUS]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Uid:\t1234\t1234\t1234\t1234$/m);
    expect(stdout).toMatch(/^Gid:\t77\t77\t77\t77$/m);
    expect(stdout).toMatch(/^Groups:\t5 65000 $/m);
    expect(stdout).toMatch(/^NoNewPrivs:\t1$/m);
    expect(capabilitiesIn(stdout)).toEqual(NO_CAPABILITY);
    expect(run(['1', '1', '0', '--', ...STATUS]).stdout).toMatch(/^Groups:\t $/m);
  });

  it('leaves to root the capabilities that it is told to, and to others none', () => {
    const kept = '00000000000004db';
    const [none] = NO_CAPABILITY;
    expect(capabilitiesIn(run(['0', '0', '1243', '--', ...STATUS]).stdout)).toEqual([
      none,
      kept,
      kept,
      kept,
      none,
    ]);
    expect(capabilitiesIn(run(['9', '9', '1243', '--', ...STATUS]).stdout)).toEqual([
      none,
      none,
      none,
      kept,
      none,
    ]);
  });

  it('passes arguments and environment on unchanged', () => {
    const env = { 'a.b': '1', UID: '7', _: 'x', EMPTY: '', LD_PRELOAD: '/nowhere' };
    const script = 'cat /proc/$$/environ; echo "$0 $@"';
    const { stdout } = run(['1', '1', '0', '--', '/bin/sh', '-c', script, '-', 'c d', '--'], env);
    const seen = variables(env).map((line) => `${line}\0`);
    expect(stdout).toBe(`${seen.join('')}- c d --\n`);
  });

  it('looks for the command in each folder of PATH, of which an empty one is the present', () => {
    mkdirSync(join(folder, 'there'));
    symlinkSync('/bin/echo', join(folder, 'there', 'found'));
    symlinkSync('/bin/echo', join(folder, 'beside'));
    const say = (name: string, path: string) =>
      run(['0', '0', '0', '--', name, 'it'], { X: '1', PATH: path });
    const there = join(folder, 'there');
    for (const path of [there, `/nowhere:${there}`, `${there}:/nowhere`])
      expect(say('found', path).stdout).toBe('it\n');
    for (const path of ['', ':/nowhere', '/nowhere:', '/nowhere::/nowhere'])
      expect([path, say('beside', path).stdout]).toEqual([path, 'it\n']);
    expect(say('./beside', '/nowhere').stdout).toBe('it\n');
    expect(say('found', '/nowhere')).toMatchObject({ status: 127, stdout: '', stderr: 'found\n' });
    expect(run(['0', '0', '0', '--', 'found'])).toMatchObject({ status: 127 });
    expect(say('/nowhere/found', there)).toMatchObject({ status: 126, stderr: '/nowhere/found\n' });
  });

  it('starts nothing if it cannot become that user, or if its arguments are incomplete', () => {
    const command = ['/bin/sh', '-c', 'echo started'];
    for (const args of [[], ['1'], ['1', '1'], ['1', '1', '0'], ['1', '1', '0', '--']])
      expect([args, run(args).status]).toEqual([args, 125]);
    // Without the right to drop capabilities, to set groups, or to change the user.
    for (const missing of ['setpcap', 'setgid', 'setuid']) {
      const args = [
        `--bounding-set=-${missing}`,
        '--',
        join(folder, 'become'),
        '1',
        '1',
        '0',
        '--',
        ...command,
      ];
      const { status, stdout } = spawnSync('setpriv', args, { encoding: 'utf8' });
      expect([missing, status, stdout]).toEqual([missing, 125, '']);
    }
  });

  it('exists for the processors that Node names x64 and arm64 only', () => {
    expect(becomeProgram('arm64').subarray(18, 20)).toEqual(Buffer.from([183, 0]));
    expect(() => becomeProgram('ia32')).toThrow('ia32');
  });
});

const variables = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

describe('the program that makes pipes', () => {
  it('gives each the mode that it is called with, and fails for a name that is taken', () => {
    const pipes = join(folder, 'pipes');
    mkdirSync(pipes);
    const make = (...names: string[]) =>
      spawnSync(join(folder, 'mkfifo'), ['-m', '622', '--', ...names], { cwd: pipes }).status;
    expect(make('a', 'b')).toBe(0);
    for (const name of ['a', 'b']) {
      const stats = statSync(join(pipes, name));
      expect([stats.isFIFO(), stats.mode & 0o777]).toEqual([true, 0o622]);
    }
    expect(make('a')).toBe(125);
  });
});

describe('the program that holds a user namespace', () => {
  it('creates one, writes a line, and ends with its input', async () => {
    const file = join(folder, 'hold');
    writeFileSync(file, namespaceProgram(process.arch), { mode: 0o755 });
    const holder = spawn(file, [], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(holder, 'exit');
    expect(String(await once(holder.stdout, 'data'))).toBe('\n');
    expect(readlinkSync(`/proc/${holder.pid}/ns/user`)).not.toBe(readlinkSync('/proc/self/ns/user'));
    holder.stdin.end();
    expect(await ended).toEqual([0, null]);
  });
});

describe('a program of the kit', () => {
  it.each([
    ['become', becomeProgram, [[], ['1'], ['a', 'b', 'c', 'd'], ['--'], ['', '', '', '']]],
    ['join', joinProgram, [[], [''], ['--'], ['/nowhere', '--', '/bin/true']]],
    [
      'mkfifo',
      fifoProgram,
      [[], ['a'], ['-m', '600'], ['-m', '600', '--'], ['-m', '600', 'a', 'b'], ['a', 'b', '--', 'c']],
    ],
    ['seal', sealProgram, [[], ['/nowhere'], ['/proc/self/ns/user'], ['--help']]],
  ] as const)('called with other arguments says so and fails: %s', (name, program, calls) => {
    const file = join(folder, `strange-${name}`);
    writeFileSync(file, program(process.arch), { mode: 0o755 });
    for (const args of calls) {
      const { status, signal, stdout, stderr } = spawnSync(file, args, { cwd: folder, encoding: 'utf8' });
      expect([args, status, signal, stdout, stderr]).toEqual([args, 125, null, '', `${name}: ${FAILED}\n`]);
    }
  });
});
