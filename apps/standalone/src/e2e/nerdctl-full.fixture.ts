import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '@berth/host-requirements';

const PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc', 'nerdctl', 'buildkitd', 'buildctl'];

/** The unit of the nerdctl-full archive. */
const CONTAINERD_UNIT = `[Unit]
Description=containerd container runtime
After=network.target
[Service]
ExecStart=/usr/local/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=1
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999
[Install]
WantedBy=multi-user.target
`;

/**
 * Writes what the nerdctl-full archive has, without its CNI plugins, to a folder, which takes the place of /usr/local.
 * `path`: where the programs are found.
 */
export const writeNerdctlFull = (folder: string, path = process.env['PATH'] ?? ''): void => {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  for (const name of PROGRAMS) {
    const program = findProgram(name, path);
    if (program === undefined) throw new Error(`${name} is missing.`);
    cpSync(program, join(folder, 'bin', name), { dereference: true });
  }
  const units = join(folder, 'lib/systemd/system');
  mkdirSync(units, { recursive: true });
  writeFileSync(join(units, 'containerd.service'), CONTAINERD_UNIT);
};
