import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// Does on this machine, in the sandbox of the tests and without Berth, what their containers need. Argument: a file for
// the first thing that it does not allow.
const [reasonFile] = process.argv.slice(2);
const folder = join(dirname(reasonFile), 'trial');
const { CONTAINERD_ADDRESS: address, BERTH_TEST_IMAGES: images } = process.env;
const [disk, point] = [join(folder, 'disk'), join(folder, 'point')];
const scope = [
  `--address=${address}`,
  '--namespace=trial',
  `--data-root=${join(folder, 'nerdctl')}`,
  '--cgroup-manager=cgroupfs',
];
const container = ['--rm', '--pull=never', '--network=none', '--userns-remap=berth', '--read-only'];
const limits = ['--memory=64m', '--cpus=1', '--pids-limit=32', '--security-opt=no-new-privileges'];

mkdirSync(point, { recursive: true });
const steps = [
  ['to mount loop devices', 'truncate', ['--size=8M', disk]],
  ['to mount loop devices', 'mkfs.ext4', ['-q', disk]],
  ['to mount loop devices', 'mount', ['-o', 'loop', disk, point]],
  ['to mount loop devices', 'umount', [point]],
  ['firewall rules', 'nft', ['add', 'table', 'inet', 'trial']],
  ['firewall rules', 'nft', ['delete', 'table', 'inet', 'trial']],
  ['network interfaces', 'ip', ['link', 'add', 'trial0', 'type', 'veth', 'peer', 'name', 'trial1']],
  ['network interfaces', 'ip', ['link', 'delete', 'trial0']],
  ['containers', 'nerdctl', [...scope, 'load', '--quiet', `--input=${join(images, 'shell.tar')}`]],
  [
    'containers',
    'nerdctl',
    [...scope, 'run', ...container, ...limits, 'berth.test/shell:1', 'sh', '-c', ':'],
  ],
];
for (const [what, program, args] of steps) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
  if (status === 0) continue;
  const [message] = (stderr || error?.message || '').trim().split('\n').slice(-1);
  const said = [program, message].join(': ');
  writeFileSync(reasonFile, ['this machine does not allow', what, `(${said})`].join(' '));
  process.exit(1);
}
