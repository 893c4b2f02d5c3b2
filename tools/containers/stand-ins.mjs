import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, SetupError } from '../ensure-installed.mjs';
import { runChild } from '../run-child.mjs';
import { cacheFolder, find } from './parts.mjs';

/** Which target of the Dockerfile stands in for an image, by the image's name without its tag. */
const TARGETS = new Map([
  ['node', 'node'],
  ['haproxy', 'haproxy'],
  ['nats', 'nats'],
  ['eventstore/eventstore', 'eventstore'],
  ['postgres', 'postgres'],
]);
/** Debian packages of the two root file systems; `node:slim` has only what Node links to. */
const ROOTS = {
  plain: ['libatomic1'],
  parts: ['libatomic1', 'curl', 'wget', 'haproxy', 'netcat-openbsd', 'postgresql'],
};
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const PULL_WITHIN_MS = 20_000;

/** Writes what the stand-ins are made of to the folder. */
export async function prepareStandIns(folder, { node, natsServer }, log) {
  cpSync(join(ROOT, 'tools', 'containers', 'stand-ins'), folder, { recursive: true });
  for (const [name, packages] of Object.entries(ROOTS)) await rootFileSystem(name, packages, log);
  copyFileSync(node, join(folder, 'node'));
  copyFileSync(natsServer, join(folder, 'nats-server'));
  // Otherwise its links would name this machine's paths.
  cpSync(npmFolder(), join(folder, 'npm'), { recursive: true, verbatimSymlinks: true });
  // The certificates that this machine trusts, for the steps that install packages.
  copyFileSync(CERTIFICATES, join(folder, 'ca-certificates.crt'));
  writeFileSync(join(folder, 'npmrc'), `cafile=${CERTIFICATES}\n`);
  const bundler = join(ROOT, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  const entry = join(ROOT, 'libs', 'embedded', 'dist', 'event-store', 'main.js');
  const options = ['--file', join(folder, 'event-store.mjs'), '--platform=node', '--format=esm'];
  await mustRun(node, [bundler, entry, ...options]);
}

/** Makes the images that the compose file and the Dockerfile name, unless a registry provides them. */
export async function buildStandIns(folder, log) {
  const images = imagesInUse();
  const pull = spawnSync('docker', ['pull', '--quiet', images[0]], { timeout: PULL_WITHIN_MS });
  if (pull.status === 0) return;
  log(
    `No registry can be reached. Stand-ins are made: ${images.join(', ')} from Debian's packages; the place of ` +
      'EventStoreDB takes the embedded event store.',
  );
  for (const name of Object.keys(ROOTS))
    await mustRun('docker', ['import', rootFile(name), `berth-stand-in/${name}`]);
  const services = Object.fromEntries(
    images.map((image) => {
      const target = TARGETS.get(image.split(':')[0]);
      if (target === undefined) throw new SetupError(`There is no stand-in for the image ${image}.`);
      return [target, { image, build: { context: folder, target } }];
    }),
  );
  const file = join(folder, 'compose.json');
  writeFileSync(file, JSON.stringify({ name: 'stand-ins', services }));
  await mustRun('docker', ['compose', '--progress=quiet', '--file', file, 'build']);
}

function imagesInUse() {
  const read = (path) => readFileSync(join(ROOT, path), 'utf8');
  const services = [...read('docker-compose.yml').matchAll(/^ {4}image: (\S+)$/gm)].map(([, image]) => image);
  const bases = [...read('infra/images/Dockerfile').matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image);
  return [...new Set([...bases, ...services.filter((image) => !image.startsWith('berth/'))])];
}

function rootFile(name) {
  const release = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'bookworm';
  const packages = createHash('sha256').update(ROOTS[name].join()).digest('hex').slice(0, 12);
  return join(cacheFolder(), `stand-in-${packages}-${process.arch}-${release}.tar`);
}

async function rootFileSystem(name, packages, log) {
  const file = rootFile(name);
  if (existsSync(file)) return;
  mkdirSync(cacheFolder(), { recursive: true });
  log(`Building the root file system of the stand-in images (${name}, once, half a minute) ...`);
  const making = mkdtempSync(join(cacheFolder(), 'stand-in-'));
  try {
    const made = join(making, 'root.tar');
    const release = /-(\w+)\.tar$/.exec(file)[1];
    const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter((path) =>
      existsSync(path),
    );
    const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : [];
    await mustRun('mmdebstrap', [
      '--variant=minbase',
      '--quiet',
      ...include,
      release,
      made,
      ...sources.slice(0, 1),
    ]);
    renameSync(made, file);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** The npm that this machine uses. */
function npmFolder() {
  return dirname(dirname(realpathSync(find('npm'))));
}

async function mustRun(program, args) {
  const code = await runChild(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (code !== 0) throw new SetupError(`${program} failed; its message is above.`);
}
