import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { launchScript } from './launch-script.js';

describe('the script that launches a guest', () => {
  it('joins the groups, sets up the mounts and executes the command, in this order', () => {
    const script = launchScript({
      groups: ['/cg/agt/cgroup.procs'],
      view: {
        namespaces: ['--mount', '--ipc'],
        root: '/run/berth',
        mounts: [{ from: '/data/v', to: '/run/berth/volume', kind: 'folder', readOnly: false }],
        covers: [{ at: '/tmp', from: '/data/tmp' }],
        kept: [],
      },
      noNewPrivileges: true,
      command: ['/bin/node', '/guest/main.js'],
    });
    const at = (part: string): number => script.indexOf(part);
    expect(at('echo 0 > /cg/agt/cgroup.procs')).toBeGreaterThan(-1);
    expect(at('unshare --mount')).toBeGreaterThan(at('echo 0'));
    expect(at('mount --bind /data/v /run/berth/volume')).toBeGreaterThan(at('unshare --mount'));
    expect(at('mount --bind /data/tmp /tmp')).toBeGreaterThan(at('mount --bind /data/v'));
    expect(at('exec setpriv --no-new-privs -- /bin/node /guest/main.js')).toBeGreaterThan(at('mount --bind'));
  });

  it('holds what a covered folder hides, and puts it back at its path', () => {
    const script = launchScript({
      groups: [],
      view: {
        namespaces: ['--mount'],
        root: '/run/berth',
        mounts: [],
        covers: [
          { at: '/tmp', from: '/tmp/data/covers/tmp' },
          { at: '/dev/shm', type: 'tmpfs', options: 'mode=1777' },
        ],
        kept: ['/tmp/data'],
      },
      noNewPrivileges: false,
      command: ['true'],
    });
    const mounts = [...script.matchAll(/^u?mount .*$/gm)].map(([line]) => line);
    expect(mounts.slice(1, -1)).toEqual([
      'mount --bind /tmp/data/covers/tmp /run/berth/.kept/0',
      'mount --bind /tmp/data /run/berth/.kept/1',
      'mount --bind /run/berth/.kept/0 /tmp',
      'mount -t tmpfs -o mode=1777 berth /dev/shm',
      'mount --bind /run/berth/.kept/1 /tmp/data',
      'umount /run/berth/.kept/0 /run/berth/.kept/1',
    ]);
  });

  it('passes any path unchanged', () => {
    const odd = '/tmp/it\'s $HOME `here`; "x"\nnew';
    const script = launchScript({
      groups: [],
      view: null,
      noNewPrivileges: false,
      command: ['printf', '%s', odd],
    });
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(odd);
  });

  it('makes room for the largest command with the largest environment, and lowers no limit', () => {
    const launch = { groups: [], view: null, noNewPrivileges: false, command: ['sh', '-c', 'ulimit -S -s'] };
    const limitBehind = (limit: string): string =>
      execFileSync('sh', ['-c', `ulimit -S -s ${limit} && ${launchScript(launch)}`], {
        encoding: 'utf8',
      }).trim();
    expect(limitBehind('8192')).toBe('10240');
    expect(limitBehind('65536')).toBe('65536');
    const strict = `ulimit -S -s 4096; ulimit -H -s 4096; ${launchScript(launch)}`;
    expect(execFileSync('sh', ['-c', strict], { encoding: 'utf8' }).trim()).toBe('4096');
  });

  it('does not run the command when it cannot join a group', () => {
    const launch = {
      groups: ['/nowhere/cgroup.procs'],
      view: null,
      noNewPrivileges: false,
      command: ['echo', 'ran'],
    };
    expect(() => execFileSync('sh', ['-c', launchScript(launch)], { stdio: 'pipe' })).toThrow();
  });
});
