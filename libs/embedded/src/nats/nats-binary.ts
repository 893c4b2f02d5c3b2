import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { EmbeddedLog } from '../supervision/embedded-log.js';
import { childEnvironment } from '../supervision/child-environment.js';
import { runCommand } from '../supervision/run-command.js';

/** A nats-server executable; `version` as numbers: major, minor, patch. */
export interface NatsBinary {
  readonly path: string;
  readonly version: readonly [number, number, number];
}

interface PackageManager {
  readonly command: string;
  readonly steps: readonly (readonly string[])[];
  readonly needsRoot: boolean;
  /** The arguments for a person who runs the command. */
  readonly manualArguments: string;
}

const MANAGERS: readonly PackageManager[] = [
  {
    command: 'apt-get',
    needsRoot: true,
    manualArguments: 'install -y nats-server',
    steps: [
      ['update', '-q'],
      ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '-q', '--no-install-recommends', 'nats-server'],
    ],
  },
  {
    command: 'dnf',
    needsRoot: true,
    manualArguments: 'install -y nats-server',
    steps: [['install', '-y', 'nats-server']],
  },
  {
    command: 'apk',
    needsRoot: true,
    manualArguments: 'add nats-server',
    steps: [['add', '--no-cache', 'nats-server']],
  },
  {
    command: 'brew',
    needsRoot: false,
    manualArguments: 'install nats-server',
    steps: [['install', 'nats-server']],
  },
];

/** Where to look: the PATH, and folders that an ordinary user's PATH omits (Debian installs it into /usr/sbin). */
function usualFolders(): string[] {
  const onPath = (childEnvironment()['PATH'] ?? '').split(delimiter).filter(Boolean);
  return [...onPath, '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];
}

/**
 * Finds nats-server on the PATH and in the usual folders. If it is missing, installs it with the system's package
 * manager if that works without prompting. Otherwise throws one message with the command to run.
 */
export async function ensureNatsServer(
  log: EmbeddedLog,
  folders: readonly string[] = usualFolders(),
): Promise<NatsBinary> {
  const found = findExecutable('nats-server', folders) ?? (await install(log, folders));
  const { output } = await runCommand(found, ['--version']);
  return { path: found, version: parseVersion(output) };
}

/** Parses the version in the output of `nats-server --version` ("nats-server: v2.9.10"); zeros if there is none. */
export function parseVersion(output: string): readonly [number, number, number] {
  const [, major, minor, patch] = /v?(\d+)\.(\d+)\.(\d+)/.exec(output) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0), Number(patch ?? 0)];
}

async function install(log: EmbeddedLog, folders: readonly string[]): Promise<string> {
  const isRoot = process.getuid?.() === 0;
  const manager = MANAGERS.find(({ command }) => findExecutable(command, folders) !== undefined);
  const byHand = manager ? commandLine(manager) : undefined;
  if (!manager || (manager.needsRoot && !isRoot)) throw new Error(howToInstall(byHand));
  log.info({ command: byHand }, `nats-server is not installed, installing it: ${String(byHand)}`);
  const hadSystemd = existsSync('/run/systemd/system');
  for (const step of manager.steps) {
    const { code, output } = await runCommand(
      findExecutable(manager.command, folders) ?? manager.command,
      step,
      {
        env: childEnvironment({ DEBIAN_FRONTEND: 'noninteractive' }),
      },
    );
    // A stale or partly unreachable index often still has the package: only the result of the install counts.
    if (code !== 0 && step.includes('nats-server')) {
      throw new Error(`${howToInstall(byHand)}\nTrying to do so failed: ${output.trim().slice(-1000)}`);
    }
  }
  // The package may start its own server, open to every local user; we only want the program.
  if (hadSystemd) await runCommand('systemctl', ['disable', '--now', 'nats-server']);
  const installed = findExecutable('nats-server', folders);
  if (installed === undefined) throw new Error(howToInstall(byHand));
  return installed;
}

function commandLine({ command, manualArguments, needsRoot }: PackageManager): string {
  return `${needsRoot && process.getuid?.() !== 0 ? 'sudo ' : ''}${command} ${manualArguments}`;
}

function howToInstall(command: string | undefined): string {
  const how = command
    ? `Install it with: ${command}`
    : 'Get it from https://github.com/nats-io/nats-server/releases and put it on the PATH';
  return `Berth needs nats-server, which is not installed. ${how}. Or set NATS_URL to a NATS server with JetStream.`;
}

function findExecutable(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
