import { isBuiltin } from 'node:module';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// Bundles our programs from the output of `tsc -b`: a bundled program loads a few files instead of up to 3,600. The
// programs are the exports of our packages with a target under CONDITION: that is the first file of the bundle, and the
// target under `default` is its input. Files that several bundles share are in `dist/bundle`. Run it after every build.
// It also bundles the programs of templates that need packages, because an agent sees only the folder of its template.

const CONDITION = 'berth-bundle';
/** Node's option under which it finds bundles instead of the output of `tsc -b`. */
export const BUNDLED = `--conditions=${CONDITION}`;

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS = ['apps', 'libs', 'libs/platform'];
const SHARED = 'dist/bundle';
const RECORD = join(ROOT, SHARED, 'inputs.json');
/** One file, because it is copied into containers. */
const ALONE = /^(apps\/guest|.*templates)\//;
const OF_TEMPLATES = ['infra/templates/assistant', 'apps/standalone/e2e-templates/sdk'].map((folder) => ({
  input: `${folder}/agent.mjs`,
  output: `${folder}/agent.bundle.mjs`,
}));
/** Load a native part or a part of WebAssembly that they find next to their own files. */
const EXTERNAL = [/^@lydell\/node-pty/, /^@cornerstonejs\/codec-libjpeg-turbo-8bit/];

/**
 * An `import` of node:http reads all that it exports, which loads the whole of undici for its WebSocket: a third of the
 * start of a guest. Getting the module as an object reads nothing.
 */
const LAZY_HTTP = {
  name: 'lazy-http',
  resolveId: { filter: { id: /^(node:)?http$/ }, handler: () => '\0lazy-http' },
  load: {
    filter: { id: /^\0lazy-http$/ },
    handler: () => "module.exports = process.getBuiltinModule('node:http');",
  },
};

/**
 * An `import` of a module of Node reads all that it exports, which loads parts that a guest does not need to start: a
 * quarter of its start. In its bundle, each use of an export reads just that export.
 */
const LAZY_NODE = {
  name: 'lazy-node',
  resolveId: {
    filter: { id: /^(node:)?[a-z_]+(\/[a-z]+)?$/ },
    handler: (id) => (isBuiltin(id) && id !== 'node:module' ? `\0lazy:${id.replace('node:', '')}` : null),
  },
  load: {
    filter: { id: /^\0lazy:/ },
    handler: (id) => {
      const name = id.replace('\0lazy:', 'node:');
      const value = `process.getBuiltinModule('${name}')`;
      const exported = process.getBuiltinModule(name);
      // `node:events` and `node:stream` are classes.
      if (typeof exported === 'function') return `module.exports = ${value};`;
      const getters = Object.keys(exported).map((key) => `get ${key}() { return ${value}.${key}; }`);
      return `module.exports = { ${getters.join(', ')} };`;
    },
  },
};

/** Makes the bundles unless they are newer than everything in them. */
async function ensureBundles() {
  const programs = findPrograms();
  const outputs = programs.map(({ output }) => output);
  if (isFresh(outputs)) return;
  const startedAt = Date.now();
  rmSync(join(ROOT, SHARED), { recursive: true, force: true });
  mkdirSync(join(ROOT, SHARED), { recursive: true });
  const together = programs.filter(({ input }) => !ALONE.test(input));
  const modules = await bundle(together, { chunkFileNames: `${SHARED}/[name].js` });
  for (const program of programs.filter((one) => !together.includes(one))) {
    const plugins = program.input.startsWith('apps/guest/') ? [LAZY_NODE] : [];
    modules.push(...(await bundle([program], { codeSplitting: false }, plugins)));
  }
  const own = modules.filter((path) => !path.includes('node_modules'));
  const manifests = own.map((path) => path.replace(/\/dist\/.*/, '/package.json'));
  const inputs = new Set([...own, ...manifests, 'node_modules/.package-lock.json', 'tools/bundle.mjs']);
  // Written last: without it, the bundles of an interrupted run count as old.
  writeFileSync(RECORD, JSON.stringify({ startedAt, outputs, inputs: [...inputs] }));
}

function findPrograms() {
  const ofPackages = FOLDERS.filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
    .flatMap((folder) => {
      const { exports = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
      return Object.values(exports)
        .filter((targets) => targets[CONDITION] !== undefined)
        .map((targets) => ({
          input: join(folder, targets.default),
          output: join(folder, targets[CONDITION]),
        }));
    });
  return [...ofPackages, ...OF_TEMPLATES.filter(({ input }) => existsSync(join(ROOT, input)))];
}

function isFresh(outputs) {
  if (!existsSync(RECORD)) return false;
  const { startedAt, outputs: made, inputs } = JSON.parse(readFileSync(RECORD, 'utf8'));
  return (
    String(made) === String(outputs) &&
    outputs.every((path) => existsSync(join(ROOT, path))) &&
    inputs.every((path) => writtenAt(path) < startedAt)
  );
}

/** In milliseconds since 1970; infinite for a missing file. */
function writtenAt(path) {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
}

/** Writes the bundles of these programs, and returns the paths of all modules in them. */
async function bundle(programs, options, plugins = []) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: ROOT,
    platform: 'node',
    external: EXTERNAL,
    plugins: [...plugins, LAZY_HTTP],
    input: Object.fromEntries(programs.map(({ input, output }) => [output, `./${input}`])),
    // Nothing is left out: rolldown takes `decodeURIComponent` and others for free of effects, also where code calls them
    // for the error that they throw.
    treeshake: false,
    // Nest requires packages that are optional and not installed; such a call fails in a bundle as it does elsewhere.
    onLog: (level, log, show) => log.code !== 'UNRESOLVED_IMPORT' && show(level, log),
  });
  const { output } = await build.write({
    dir: ROOT,
    format: 'esm',
    sourcemap: true,
    // Modules run in the order of their imports, also across files: decorators need reflect-metadata first.
    strictExecutionOrder: true,
    // Nest and our logs show names of classes.
    keepNames: true,
    minify: false,
    entryFileNames: '[name]',
    ...options,
  });
  await build.close();
  return output
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    .filter((id) => id.startsWith(ROOT))
    .map((id) => relative(ROOT, id));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await ensureBundles();
