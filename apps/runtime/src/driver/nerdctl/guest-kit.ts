import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import {
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { GUEST_NODE_OPTIONS } from '@berth/guest-protocol';
import { openUp } from '../shared-files.js';
import { becomeProgram } from './become-program.plan.js';
import { fifoProgram } from './fifo-program.plan.js';
import { initProgram } from './init-program.plan.js';
import { joinProgram } from './join-program.plan.js';
import {
  BECOME,
  FIFO,
  HOLD_NAMESPACE,
  INIT,
  INSIDE,
  JOIN,
  LOADER,
  RUNC,
  SEAL,
  SHELL,
} from './paths-inside.js';
import { namespaceProgram } from './namespace-program.plan.js';
import { sealProgram } from './seal-program.plan.js';
import { deafLoader, interpreterOf, relocateProgram } from './relocate-program.plan.js';

const run = promisify(execFile);

/** Part of the name of a kit; increase it when the contents change in any way but through the files of the host. */
const KIT_FORMAT = '7';

/** The image's own could name a library that OpenSSL loads into the guest. */
const NO_OPENSSL_CONFIG = '--openssl-config=/dev/null';

/** Programs of our own, by their files in the kit. */
const OWN_PROGRAMS: readonly (readonly [string, (processor: string) => Buffer])[] = [
  [BECOME, becomeProgram],
  [HOLD_NAMESPACE, namespaceProgram],
  [INIT, initProgram],
  [JOIN, joinProgram],
  [SEAL, sealProgram],
  [FIFO, fifoProgram],
];

/** Folders of a package that a program does not load. */
const NOT_LOADED = new Set(['node_modules', 'src', '.git']);

/** A read-only folder with all that a guest needs, so that it runs in any image, also in one without a C library. */
export interface GuestKit {
  readonly folder: string;
  /** Starts the guest inside. */
  readonly command: readonly [string, ...string[]];
}

interface Package {
  readonly name: string;
  readonly folder: string;
}

/** Programs of the host that agents may start. */
export interface KitPrograms {
  readonly bash: string;
}

/** What not every host has. */
export interface KitExtras {
  /** Folder of npm for builds and programs. */
  readonly npm: string | undefined;
  /** For the steps of Dockerfiles; left out if it cannot be made to run in every image. */
  readonly runc: string | undefined;
}

interface KitParts extends KitExtras {
  readonly node: string;
  readonly programs: KitPrograms;
  /** The dynamic loader, and the libraries of the programs and of the guest's own native parts. */
  readonly loader: string;
  readonly libraries: readonly string[];
  readonly packages: readonly Package[];
}

/**
 * The kit in a folder below `parent`, made if it is not there yet: this Node with its libraries and loader, and the
 * packages of the guest. A changed guest or Node has another folder, because running containers still use the old one.
 */
export const makeGuestKit = async (
  parent: string,
  guestMain: string,
  programs: KitPrograms,
  extras: KitExtras,
): Promise<GuestKit> => {
  const guestFolder = dirname(dirname(await realpath(guestMain)));
  const parts = { ...(await findParts(guestFolder, programs, extras.runc)), ...extras };
  const folder = join(parent, await fingerprint(parts));
  if (!existsSync(folder)) await make(folder, parts);
  const main = `${INSIDE.kit}/node_modules/${parts.packages[0]?.name}/${relative(guestFolder, await realpath(guestMain))}`;
  const node = `${INSIDE.kit}/bin/node`;
  return { folder, command: [INIT, node, NO_OPENSSL_CONFIG, ...GUEST_NODE_OPTIONS, main] };
};

const findParts = async (
  guestFolder: string,
  programs: KitPrograms,
  runc: string | undefined,
): Promise<Omit<KitParts, keyof KitExtras>> => {
  const node = process.execPath;
  const packages = await closureOf(guestFolder);
  const natives = (await Promise.all(packages.map(({ folder }) => nativeFiles(folder)))).flat();
  const { loader, libraries } = await librariesOf([
    node,
    ...Object.values(programs),
    ...(runc === undefined || (await isStatic(runc)) ? [] : [runc]),
    ...natives,
  ]);
  return { node, programs, loader, libraries, packages };
};

/** The package of that folder and everything it depends on, itself first. */
const closureOf = async (folder: string): Promise<readonly Package[]> => {
  const found = new Map<string, Package>();
  const add = async (at: string): Promise<void> => {
    const manifest = await readManifest(at);
    if (found.has(manifest.name)) return;
    found.set(manifest.name, { name: manifest.name, folder: at });
    for (const name of Object.keys(manifest.dependencies ?? {})) await add(await findPackage(at, name));
    for (const name of Object.keys(manifest.optionalDependencies ?? {})) {
      const optional = await findPackage(at, name).catch(() => undefined);
      if (optional !== undefined) await add(optional);
    }
  };
  await add(folder);
  return [...found.values()];
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const readManifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

const findPackage = async (from: string, name: string): Promise<string> => {
  const folders = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  const folder = folders.map((one) => join(one, name)).find((one) => existsSync(join(one, 'package.json')));
  if (folder === undefined) throw new Error(`The guest's package ${name} is not installed.`);
  return realpath(folder);
};

const loadedFiles = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (NOT_LOADED.has(entry.name)) return [];
    return entry.isDirectory() ? loadedFiles(path) : [path];
  });
  return (await Promise.all(files)).flat().toSorted();
};

const nativeFiles = async (folder: string): Promise<readonly string[]> =>
  (await loadedFiles(folder)).filter((file) => file.endsWith('.node'));

/** What the dynamic loader of this host loads for these files. */
const librariesOf = async (files: readonly string[]): Promise<Pick<KitParts, 'loader' | 'libraries'>> => {
  const { stdout } = await run('ldd', [...files]);
  const libraries = new Set([...stdout.matchAll(/=> (\/\S+) \(0x/g)].map(([, path]) => path ?? ''));
  const loader = /^\s+(\/\S*ld-\S+) \(0x/m.exec(stdout)?.[1];
  if (loader === undefined) throw new Error('The dynamic loader of Node was not found.');
  return { loader, libraries: [...libraries].toSorted() };
};

/** Whether a program needs no loader; `ldd` fails for such a one. */
const isStatic = async (program: string): Promise<boolean> =>
  interpreterOf(await readFile(program)) === undefined;

const fingerprint = async ({
  node,
  programs,
  npm,
  runc,
  loader,
  libraries,
  packages,
}: KitParts): Promise<string> => {
  const hash = createHash('sha256').update(KIT_FORMAT);
  const files = (await Promise.all(packages.map(({ folder }) => loadedFiles(folder)))).flat();
  const extras = [
    ...(npm === undefined ? [] : [join(npm, 'package.json')]),
    ...(runc === undefined ? [] : [runc]),
  ];
  for (const file of [node, ...Object.values(programs), loader, ...libraries, ...extras, ...files]) {
    const { size, mtimeMs } = await stat(file);
    hash.update(`${file}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest('hex').slice(0, 16);
};

const make = async (
  folder: string,
  { node, programs, npm, runc, loader, libraries, packages }: KitParts,
): Promise<void> => {
  const making = `${folder}.${process.pid}`;
  await rm(making, { recursive: true, force: true });
  const inMaking = (path: string): string => join(making, relative(INSIDE.kit, path));
  const [lib, bin, shell, guest] = [
    join(making, 'lib'),
    join(making, 'bin'),
    inMaking(dirname(SHELL)),
    inMaking(dirname(FIFO)),
  ];
  for (const path of [lib, bin, shell, guest]) await mkdir(path, { recursive: true, mode: 0o755 });
  const copy = (from: string, to: string): Promise<void> => copyFile(from, to, constants.COPYFILE_FICLONE);
  await writeFile(join(lib, LOADER), deafLoader(await readFile(loader)), { mode: 0o755 });
  for (const library of libraries) await copy(library, join(lib, basename(library)));
  await copyProgram(node, join(bin, 'node'));
  await copyProgram(programs.bash, join(shell, 'bash'));
  await symlink('bash', inMaking(SHELL));
  if (npm !== undefined) await addNpm(npm, making);
  // Without it the kit serves for everything but Dockerfiles.
  if (runc !== undefined) await copyProgram(runc, join(lib, basename(RUNC))).catch(() => undefined);
  for (const [path, program] of OWN_PROGRAMS)
    await writeFile(inMaking(path), program(process.arch), { mode: 0o755 });
  for (const { name, folder: from } of packages) {
    const to = join(making, 'node_modules', name);
    await cp(from, to, {
      recursive: true,
      dereference: true,
      filter: (path) => path === from || !NOT_LOADED.has(basename(path)),
    });
  }
  // The guest owns none of it.
  await openUp(making);
  await rename(making, folder).catch(async (error: unknown) => {
    // Another runtime of this host has made the same kit first.
    await rm(making, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
};

/** npm where a distribution of Node has it. */
const addNpm = async (from: string, kit: string): Promise<void> => {
  const inLib = join('lib', 'node_modules', 'npm');
  await cp(from, join(kit, inLib), { recursive: true, dereference: true });
  for (const name of ['npm', 'npx'])
    await symlink(join('..', inLib, 'bin', `${name}-cli.js`), join(kit, 'bin', name));
};

/** A copy that uses the loader and the libraries of the kit in every image. */
const copyProgram = async (from: string, to: string): Promise<void> => {
  const program = await readFile(from);
  if (interpreterOf(program) === undefined) return writeFile(to, program, { mode: 0o755 });
  const lib = `${INSIDE.kit}/lib`;
  relocateProgram(program, { loader: `${lib}/${LOADER}`, libraries: lib });
  await writeFile(to, program, { mode: 0o755 });
};
