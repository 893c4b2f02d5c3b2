import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const CLIENT = join(dirname(dirname(fileURLToPath(import.meta.url))), 'libs/client');
const ESM = join(CLIENT, 'dist/esm');
const CJS = join(CLIENT, 'dist/cjs');
const OF_TESTS = /\.(spec|[\w]+-spec|fixture)\./;

/**
 * Completes the package of the TypeScript client, whose modules `tsc -b` writes, with those for `require`: bundles, and a
 * copy of the declarations, which are those of CommonJS in this folder.
 */
export async function packageClient() {
  rmSync(CJS, { recursive: true, force: true });
  mkdirSync(CJS, { recursive: true });
  writeFileSync(join(CJS, 'package.json'), '{ "type": "commonjs" }\n');
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: CLIENT,
    platform: 'neutral',
    external: [/^node:/],
    input: { index: './src/index.ts', node: './src/node.ts' },
    resolve: { extensionAlias: { '.js': ['.ts'] } },
  });
  await build.write({
    dir: CJS,
    format: 'cjs',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await build.close();
  for (const name of readdirSync(ESM).filter((one) => one.endsWith('.d.ts') && !OF_TESTS.test(one)))
    copyFileSync(join(ESM, name), join(CJS, name));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await packageClient();
