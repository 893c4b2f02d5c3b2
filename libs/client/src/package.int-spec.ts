import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from './index.js';

const run = promisify(execFile);
const CLIENT = fileURLToPath(new URL('..', import.meta.url));
const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const MOST_BYTES = 20_000;

let folder: string;
let tarball: string;
/** Where it is installed in an empty project. */
let installed: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-client-package-'));
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: CLIENT });
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
  installed = join(folder, 'node_modules/@berth/client');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The code of the main entry as one minified script. */
const bundled = async (format: 'esm' | 'iife'): Promise<string> => {
  const build = await rolldown({ input: join(installed, 'dist/esm/index.js'), platform: 'browser' });
  const { output } = await build.generate({ format, minify: true, name: 'client' });
  await build.close();
  return output[0].code;
};

describe('the package', () => {
  it('has its version, README, licence and modules, and nothing else', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(manifest).toMatchObject({ version: VERSION, sideEffects: false, license: 'Apache-2.0' });
    expect(manifest['dependencies']).toBeUndefined();
    const files = readdirSync(installed, { recursive: true }).map(String);
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'dist/esm/index.js.map', 'dist/cjs/node.js.map']),
    );
    expect(files.filter((name) => /spec|fixture|\.tsx?$/.test(basename(name).replace('.d.ts', '')))).toEqual(
      [],
    );
  });

  it('has types that are not wrong', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
    expect(analysis).toMatchObject({ packageName: '@berth/client', problems: [] });
  });

  it('is published as publint wants it', async () => {
    const { messages, pkg } = await publint({ pkgDir: installed, pack: false, level: 'suggestion' });
    expect(messages.map((message) => formatMessage(message, pkg as Record<string, unknown>))).toEqual([]);
  });

  it('takes at most 20 kB minified and gzipped', async () => {
    expect(gzipSync(await bundled('esm')).length).toBeLessThanOrEqual(MOST_BYTES);
  });

  it('loads and works where there are neither `process` nor `Buffer`', async () => {
    const code = await bundled('iife');
    expect(code).not.toMatch(/\brequire\(|node:/);
    const sent: string[] = [];
    const names = [
      'AbortController',
      'AbortSignal',
      'Blob',
      'DOMException',
      'FormData',
      'Headers',
      'ReadableStream',
    ];
    const more = [
      'Response',
      'TextDecoder',
      'TextEncoder',
      'URL',
      'URLSearchParams',
      'clearTimeout',
      'setTimeout',
    ];
    const globals = Object.fromEntries(
      [...names, ...more, 'performance'].map((name) => [name, (globalThis as Record<string, unknown>)[name]]),
    );
    const fetch = (url: string, { headers }: { headers: Headers }): Promise<Response> => {
      sent.push(`${url} ${headers.get('authorization')} ${headers.get('user-agent')}`);
      return Promise.resolve(new Response('{"status":"ok"}'));
    };
    const context = createContext({ ...globals, fetch });
    expect(runInContext('typeof process + typeof Buffer', context)).toBe('undefinedundefined');
    const health = runInContext(
      `${code};new client.Berth({ apiKey: 'eu_a', baseUrl: 'https://berth.example.org' }).health()`,
      context,
    ) as Promise<unknown>;
    expect(await health).toEqual({ status: 'ok' });
    expect(sent).toEqual(['https://berth.example.org/health Bearer eu_a null']);
  });

  it('can be imported and required', async () => {
    writeFileSync(
      join(folder, 'imports.mjs'),
      `import { Berth, VERSION } from '@berth/client';
       import { fileFromPath, saveTo } from '@berth/client/node';
       console.log(VERSION, typeof Berth, typeof fileFromPath, typeof saveTo);`,
    );
    writeFileSync(
      join(folder, 'requires.cjs'),
      `const { Berth, VERSION } = require('@berth/client');
       const { fileFromPath, saveTo } = require('@berth/client/node');
       console.log(VERSION, typeof Berth, typeof fileFromPath, typeof saveTo);`,
    );
    for (const file of ['imports.mjs', 'requires.cjs']) {
      const { stdout } = await run(process.execPath, [join(folder, file)]);
      expect(stdout).toBe(`${VERSION} function function function\n`);
    }
  });

  it.each<[string, object]>([
    ['node16', {}],
    ['bundler', {}],
    ['node16', { lib: ['es2022'], types: ['node'] }],
  ])(
    'and the examples of its README type-check in an empty project with moduleResolution %s and %j',
    async (resolution, more) => {
      const project = mkdtempSync(join(folder, 'project-'));
      mkdirSync(join(project, 'node_modules/@berth'), { recursive: true });
      symlinkSync(installed, join(project, 'node_modules/@berth/client'));
      for (const name of ['@types', 'undici-types'])
        symlinkSync(join(MODULES, name), join(project, 'node_modules', name));
      const examples = [
        ...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/^```ts\n([^]*?)^```/gm),
      ];
      expect(examples.length).toBeGreaterThan(8);
      examples.forEach(([, code = ''], index) => writeFileSync(join(project, `example-${index}.mts`), code));
      writeFileSync(
        join(project, 'types.cts'),
        `import { Berth, type Agent, type UsageRow } from '@berth/client';
       export const name = async (): Promise<string> => (await new Berth().agents.get('a')).name;
       export const cost = (row: UsageRow, agent: Agent): number => row.totalCents + agent.idleTtlSeconds;
       // @ts-expect-error: TypeScript's client has no detached commands.
       void new Berth().agents.exec('a', 'ls', { detached: true });
       // @ts-expect-error: there is no such state.
       new Berth().agents.list({ state: 'idle' });`,
      );
      const compilerOptions = {
        ...{ strict: true, noEmit: true, target: 'es2022', types: [], skipLibCheck: false },
        ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...{ module: resolution === 'node16' ? 'node16' : 'preserve', moduleResolution: resolution },
        ...more,
      };
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'] }),
      );
      const { stdout } = await run(join(MODULES, '.bin/tsc'), ['-p', project]).catch(
        (error: unknown) => error as { stdout: string },
      );
      expect(stdout).toBe('');
    },
  );
});
