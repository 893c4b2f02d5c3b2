import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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

const ARCHIVES = ['shell.tar', 'scratch.tar', 'debian.tar'];
const BUSYBOX = '/usr/bin/busybox';

/**
 * Builds the images of the tests as archives for `nerdctl load`, because the tests reach no registry: `shell.tar`
 * (BusyBox alone), `scratch.tar` (one static program, without a shell) and `debian.tar` (Debian). They are built once on a
 * machine, as long as neither BusyBox nor this file changes.
 *
 * @returns {Promise<string>} the folder of the archives
 */
export async function buildImages(log) {
  const release = debianRelease();
  const parts = [release, process.arch, readFileSync(new URL(import.meta.url)), readFileSync(BUSYBOX)];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  const folder = join(cacheFolder(), `images-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cacheFolder(), { recursive: true });
  const making = mkdtempSync(join(cacheFolder(), 'images-'));
  try {
    await buildInto(making, release, log);
    for (const name of readdirSync(making))
      if (!ARCHIVES.includes(name)) rmSync(join(making, name), { recursive: true });
    // Another run may have been faster.
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

async function buildInto(folder, release, log) {
  const shell = join(folder, 'shell');
  mkdirSync(join(shell, 'bin'), { recursive: true });
  mkdirSync(join(shell, 'etc'));
  writeFileSync(join(shell, 'etc', 'passwd'), 'root:x:0:0::/:/bin/sh\n');
  copyFileSync(BUSYBOX, join(shell, 'bin', 'busybox'));
  for (const tool of TOOLS) symlinkSync('busybox', join(shell, 'bin', tool));
  await archive(folder, 'shell', await layerOf(folder, 'shell'));
  const scratch = join(folder, 'scratch');
  mkdirSync(scratch);
  copyFileSync(BUSYBOX, join(scratch, 'program'));
  await archive(folder, 'scratch', await layerOf(folder, 'scratch'));
  // Under the name of the default image, so that agents without an image of their own run in it.
  await archive(folder, 'debian', await debianLayer(folder, release, log), 'docker.io/library/debian:12');
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

/** The release that this machine runs. */
function debianRelease() {
  return /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'bookworm';
}

/** The file system of a small Debian. */
async function debianLayer(folder, release, log) {
  log(`Building an image of Debian ${release} (once, half a minute) ...`);
  const layer = join(folder, 'debian-layer.tar');
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter((file) =>
    existsSync(file),
  );
  await mustRun('mmdebstrap', [
    '--variant=minbase',
    '--quiet',
    `--include=${DEBIAN_PACKAGES}`,
    release,
    layer,
    ...sources.slice(0, 1),
  ]);
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
