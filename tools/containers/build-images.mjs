import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../ensure-installed.mjs';
import { runChild } from '../run-child.mjs';
import { cacheFolder } from './parts.mjs';

/** The programs of the small image, all of them BusyBox. */
const TOOLS =
  'sh sleep cat cut head tail id tr wc ls mkdir chmod test grep setsid rm echo pwd env ps kill dd df mkfifo stat nc wget find sort mknod touch'.split(
    ' ',
  );
/** What the default image has: a shell, git, curl and Python, also for builds of Python programs. */
const DEBIAN_PACKAGES = 'ca-certificates,curl,git,python3-venv';

/**
 * Builds the images of the tests as archives for `nerdctl load`, because the tests reach no registry: `shell.tar`
 * (BusyBox alone), `scratch.tar` (one static program, without a shell) and `debian.tar` (Debian, built once and cached).
 *
 * @returns {Promise<string>} the folder of the archives
 */
export async function buildImages(folder, log) {
  mkdirSync(folder, { recursive: true });
  const shell = join(folder, 'shell');
  mkdirSync(join(shell, 'bin'), { recursive: true });
  mkdirSync(join(shell, 'etc'));
  writeFileSync(join(shell, 'etc', 'passwd'), 'root:x:0:0::/:/bin/sh\n');
  copyFileSync('/usr/bin/busybox', join(shell, 'bin', 'busybox'));
  for (const tool of TOOLS) symlinkSync('busybox', join(shell, 'bin', tool));
  await archive(folder, 'shell', await layerOf(folder, 'shell'));
  const scratch = join(folder, 'scratch');
  mkdirSync(scratch);
  copyFileSync('/usr/bin/busybox', join(scratch, 'program'));
  await archive(folder, 'scratch', await layerOf(folder, 'scratch'));
  // Under the name of the default image, so that agents without an image of their own run in it.
  await archive(folder, 'debian', await debianLayer(log), 'docker.io/library/debian:12');
  return folder;
}

async function layerOf(folder, name) {
  const layer = join(folder, `${name}-layer.tar`);
  await mustRun('tar', [
    '--create',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--file=${layer}`,
    `--directory=${join(folder, name)}`,
    '.',
  ]);
  return layer;
}

/** The file system of a small Debian, of the release that this machine runs. */
async function debianLayer(log) {
  const release = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'bookworm';
  const packages = createHash('sha256').update(DEBIAN_PACKAGES).digest('hex').slice(0, 8);
  const layer = join(cacheFolder(), `debian-${release}-${process.arch}-${packages}.tar`);
  if (existsSync(layer)) return layer;
  mkdirSync(cacheFolder(), { recursive: true });
  log(`Building an image of Debian ${release} (once, half a minute) ...`);
  const making = mkdtempSync(join(cacheFolder(), 'debian-'));
  try {
    const made = join(making, 'layer.tar');
    const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter((file) =>
      existsSync(file),
    );
    await mustRun('mmdebstrap', [
      '--variant=minbase',
      '--quiet',
      `--include=${DEBIAN_PACKAGES}`,
      release,
      made,
      ...sources.slice(0, 1),
    ]);
    renameSync(made, layer);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return layer;
}

/** Writes `<name>.tar`, an archive in Docker's format with one layer. */
async function archive(folder, name, layer, reference = `berth.test/${name}:1`) {
  const parts = join(folder, `${name}-archive`);
  mkdirSync(parts);
  const config = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [`sha256:${await digestOf(layer)}`] },
  });
  const manifest = [{ Config: 'config.json', RepoTags: [reference], Layers: ['layer.tar'] }];
  writeFileSync(join(parts, 'config.json'), config);
  writeFileSync(join(parts, 'manifest.json'), JSON.stringify(manifest));
  symlinkSync(layer, join(parts, 'layer.tar'));
  await mustRun('tar', [
    '--create',
    '--dereference',
    `--file=${join(folder, `${name}.tar`)}`,
    `--directory=${parts}`,
    'manifest.json',
    'config.json',
    'layer.tar',
  ]);
}

async function digestOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

async function mustRun(program, args) {
  const code = await runChild(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (code !== 0) throw new SetupError(`${program} failed; its message is above.`);
}
