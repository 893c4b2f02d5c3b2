import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ChildProgram } from '../programs/child-program.js';
import { undoneOnFailure, type CleanUp } from './clean-up.js';
import { endingWithParent, type CommandLine } from './command-line.js';
import { findExecutable } from './executables.js';

type Variables = Readonly<Record<string, string>>;

const CONTROL_GROUPS = '/sys/fs/cgroup';
/**
 * Folders outside /run where dockerd and containerd write regardless of their settings; only docker has a file there.
 */
const SETTINGS = '/etc/docker';
const CLIENT_VARIABLES = /^DOCKER_(HOST|CONTEXT|TLS.*|CERT_PATH)$/;

/** Runs in its own mount namespace, with empty folders where the daemon would leave files behind. */
const SCRIPT = `set -e
for folder in /run /opt ${SETTINGS}; do [ ! -d "$folder" ] || mount -t tmpfs -o mode=0755 tmpfs "$folder"; done
exec dockerd "$@"`;

/** A Docker daemon for this run only: it changes no network, firewall or setting of the machine. */
export class DockerDaemon {
  private constructor(
    readonly host: string,
    readonly stop: () => Promise<void>,
  ) {}

  static canStart(folders: readonly string[]): boolean {
    return process.getuid?.() === 0 && findExecutable('dockerd', folders) !== undefined;
  }

  /** Throws `BenchError` with the daemon's output when it does not become ready. */
  static async start(folder: string, env: Variables, folders: readonly string[]): Promise<DockerDaemon> {
    return undoneOnFailure(async (cleanUp) => {
      const paths = makeFolders(folder, cleanUp);
      const controlGroup = `berth-bench-${randomUUID().slice(0, 8)}`;
      cleanUp.add(() => removeControlGroup(controlGroup));
      const host = `unix://${join(paths.sockets, 'docker.sock')}`;
      const { program } = await ChildProgram.start({
        name: 'dockerd',
        ...endingWithParent(inOwnMounts(daemonOptions(host, controlGroup, paths), env, folders), folders),
        ready: /API listen on/,
        channel: false,
      });
      cleanUp.add(() => program.stop());
      return new DockerDaemon(host, () => cleanUp.run());
    });
  }

  clientEnvironment(env: Variables): Variables {
    const kept = Object.entries(env).filter(([name]) => !CLIENT_VARIABLES.test(name));
    return { ...Object.fromEntries(kept), DOCKER_HOST: this.host };
  }
}

interface Paths {
  readonly sockets: string;
  readonly data: string;
  readonly settings: string;
}

const makeFolders = (folder: string, cleanUp: CleanUp): Paths => {
  cleanUp.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(folder, { recursive: true });
  // A socket path is limited to 107 characters, and the path of the checkout may be long.
  const sockets = mkdtempSync(join(tmpdir(), 'berth-bench-'));
  cleanUp.add(() => rmSync(sockets, { recursive: true, force: true, maxRetries: 5 }));
  if (!existsSync(SETTINGS)) {
    mkdirSync(SETTINGS);
    cleanUp.add(() => rmdirSync(SETTINGS));
  }
  const settings = join(folder, 'daemon.json');
  writeFileSync(settings, '{}');
  return { sockets, data: join(folder, 'data'), settings };
};

const inOwnMounts = (
  options: readonly string[],
  env: Variables,
  folders: readonly string[],
): CommandLine => ({
  command: 'unshare',
  args: ['--mount', '--propagation', 'private', 'sh', '-c', SCRIPT, 'sh', ...options],
  env: { ...env, PATH: folders.join(delimiter) },
});

const daemonOptions = (host: string, controlGroup: string, { sockets, data, settings }: Paths): string[] => [
  // The machine's own settings would conflict with these, and dockerd refuses an option that is set twice.
  ...['--config-file', settings],
  ...['--host', host, '--data-root', data],
  ...['--exec-root', join(sockets, 'exec'), '--pidfile', join(sockets, 'pid')],
  ...['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false'],
  ...['--exec-opt', 'native.cgroupdriver=cgroupfs', `--cgroup-parent=/${controlGroup}`],
];

/**
 * Version 1 has a hierarchy of folders for each controller, version 2 has one for all. A group with members is kept.
 */
const removeControlGroup = (name: string): void => {
  const hierarchies = readdirSync(CONTROL_GROUPS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(CONTROL_GROUPS, entry.name));
  for (const hierarchy of [CONTROL_GROUPS, ...hierarchies]) {
    const group = join(hierarchy, name);
    if (existsSync(group)) rmdirSync(group);
  }
};
