import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { checkCompose } from './compose.check.mjs';
import { checkErrorCodes } from './error-codes.check.mjs';
import { checkFreshIds } from './fresh-ids.check.mjs';
import { checkGoldenEvents } from './golden-events.check.mjs';
import { checkGraph } from './graph.check.mjs';
import { checkDeclarations, checkImports } from './imports.check.mjs';
import { checkPlaces } from './places.check.mjs';
import { checkPurity } from './purity.check.mjs';
import { checkSecrets } from './secrets.check.mjs';
import { checkSizes, percentile95 } from './sizes.check.mjs';
import { Scratch } from './workspace.fixture.js';
import { readWorkspace } from './workspace.mjs';

// Some tests start other programs, which a busy machine loads slowly.
vi.setConfig({ testTimeout: 60_000 });

const problemsOf = (check: (workspace: never) => { problems: readonly string[] }, scratch: Scratch): string =>
  check(readWorkspace(scratch.root) as never).problems.join('\n');

describe('imports between packages', () => {
  it.each([
    ['an app that imports an app', 'apps/a', 'app', `import { b } from '@berth/b';`, /never imports an app/],
    ['a kernel that imports Node', 'libs/a', 'kernel', `import 'node:fs';`, /kernel imports nothing/],
    [
      'a kernel that imports a type',
      'libs/a',
      'kernel',
      `export type T = import('typeorm').DataSource;`,
      /kernel imports nothing/,
    ],
    ['a client library that imports a package', 'libs/a', 'client', `import 'undici';`, /imports nothing/],
    ['a client library that imports Node', 'libs/a', 'client', `import 'node:fs';`, /imports nothing/],
    [
      'a client library that imports ours',
      'libs/a',
      'client',
      `export type * from '@berth/kernel';`,
      /imports nothing/,
    ],
    [
      'platform that imports a contract',
      'libs/a',
      'platform',
      `export * from '@berth/contracts/c';`,
      /platform may import/,
    ],
    [
      'an import into a package',
      'apps/a',
      'app',
      `import { x } from '@berth/p/dist/x.js';`,
      /is not exported/,
    ],
    [
      'a lazy import into a package',
      'apps/a',
      'app',
      `export const x = () => import('@berth/p/dist/x.js');`,
      /is not exported/,
    ],
    [
      'a relative path out of the package',
      'apps/a',
      'app',
      `import { x } from '../../b/src/x.js';`,
      /leaves the package/,
    ],
    [
      'a service that embeds its own infrastructure',
      'apps/a',
      'app',
      `import { e } from '@berth/embedded';`,
      /only the composition/,
    ],
    [
      'a context without a contract',
      'apps/a',
      'app',
      `import { x } from '@berth/contracts/nowhere';`,
      /is not exported/,
    ],
    ['an unknown package', 'apps/a', 'app', `import { x } from '@berth/nowhere';`, /no package/],
    ['a package without a type', 'apps/a', 'thing', `export {};`, /nx\.tags/],
  ])('reject %s', (_, dir, type, text, message) => {
    using scratch = new Scratch();
    scratch.pack('apps/b', 'app', { 'index.ts': '' }).pack('libs/p', 'platform', { 'index.ts': '' });
    scratch.contract('c', { 'index.ts': '' }).pack('libs/embedded', 'platform', { 'index.ts': '' });
    scratch.pack(dir, type, { 'index.ts': text });
    expect(problemsOf(checkImports, scratch)).toMatch(message);
  });

  it.each([
    ['platform', `import { p } from '@berth/p';`, /contract may import kernel/],
    ['Nest', `import { X } from '@nestjs/common';`, /kernel and typebox only/],
    ['the contract of another context', `import { c } from '../c/index.js';`, /leaves its context/],
    ['its own package by name', `import { c } from '@berth/contracts/c';`, /contract may import kernel/],
  ])('reject a contract that imports %s', (_, text, message) => {
    using scratch = new Scratch();
    scratch.pack('libs/p', 'platform', { 'index.ts': '' });
    scratch.contract('c', { 'index.ts': '' }).contract('a', { 'index.ts': text });
    expect(problemsOf(checkImports, scratch)).toMatch(message);
  });

  it('may lead from the composition to apps, from apps to contracts and platform, and from contracts to schemas', () => {
    using scratch = new Scratch();
    scratch.pack('apps/b', 'app', {
      'index.ts': `import '@berth/contracts/c'; import '@berth/p'; import 'node:fs';`,
    });
    scratch.pack('apps/whole', 'composition', { 'index.ts': `import '@berth/b';` });
    scratch.pack('libs/p', 'platform', { 'index.ts': '' }).contract('schema', { 'index.ts': '' });
    scratch.contract('c', { 'index.ts': `import '../schema/index.js'; import 'typebox';` });
    expect(problemsOf(checkImports, scratch)).toBe('');
  });

  it('must be declared as dependencies and as project references', () => {
    using scratch = new Scratch();
    scratch.pack('libs/p', 'platform', { 'index.ts': '' });
    scratch.pack(
      'apps/a',
      'app',
      { 'index.ts': `import '@berth/p'; import 'undici';`, 'a.spec.ts': `import 'vitest';` },
      ['@berth/p'],
    );
    const found = problemsOf(checkDeclarations, scratch);
    expect(found).toMatch(/imports 'undici'/);
    expect(found).toMatch(/reference to libs\/p/);
    expect(found).not.toMatch(/vitest/);
  });
});

describe('imports between files', () => {
  it('reject cycles, including those of types, missing files, unreachable files and tests in sources', () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', {
      'index.ts': `export * from './one.js'; import './gone.js'; import './x.spec.js';`,
      'one.ts': `import type { Two } from './two.js'; export type One = Two;`,
      'two.ts': `import { One } from './one.js'; export type Two = One;`,
      'dead.ts': 'export {};',
      'x.spec.ts': '',
    });
    const found = problemsOf(checkGraph, scratch);
    expect(found).toMatch(/cycle: .*(one\.ts.*two\.ts|two\.ts.*one\.ts)/);
    expect(found).toMatch(/'\.\/gone\.js' does not exist/);
    expect(found).toMatch(/dead\.ts is not reachable from/);
    expect(found).toMatch(/must not import the test/);
  });
});

describe('ids on the path of a command', () => {
  const fresh = `import { newId } from '@berth/kernel'; export const a = () => newId('agt');`;

  it.each([
    ['a command handler', { 'a.command-handler.ts': fresh }, /a\.command-handler\.ts:1: newId\(\)/],
    [
      'a decider',
      { 'a.decider.ts': `export const a = () => globalThis.crypto.randomUUID();` },
      /a\.decider\.ts:1: randomUUID\(\)/,
    ],
    [
      'a collaborator of a controller, found through its type',
      { 'a.nats-controller.ts': `import type { B } from './b.js'; export type A = B;`, 'b.ts': fresh },
      /b\.ts:1: newId\(\)/,
    ],
  ])('are not fresh in %s', (_, files, message) => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', files);
    expect(problemsOf(checkFreshIds, scratch)).toMatch(message);
  });

  it('may be fresh off the path of commands, in tests, and in the gateway, which creates the ids of commands', () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', {
      'a.command-handler.ts': `import { deriveId } from '@berth/kernel'; export const a = deriveId;`,
      'install.ts': fresh,
      'a.command-handler.spec.ts': fresh,
    });
    scratch.pack('apps/gateway', 'app', { 'a.nats-controller.ts': fresh });
    expect(problemsOf(checkFreshIds, scratch)).toBe('');
  });
});

describe('pure files', () => {
  it.each([
    ['Node', 'a.decider.ts', `import { hash } from 'node:crypto';`, /'node:crypto'/],
    ['Nest', 'a.events.ts', `import { X } from '@nestjs/common';`, /'@nestjs\/common'/],
    ['the clock', 'a.decider.ts', `export const a = () => new Date();`, /new Date\(\)/],
    ['the clock in milliseconds', 'a.plan.ts', `export const a = () => Date.now();`, /Date\.now/],
    [
      'the clock in the file of a small decider',
      'a.ts',
      `const a: Decider<S, C, E> = { initial: Date.now() };`,
      /Date\.now/,
    ],
    [
      'randomness',
      'a.decider.ts',
      `export const a = () => globalThis.crypto.randomUUID();`,
      /crypto\.randomUUID/,
    ],
    [
      'side effects through a neighbour',
      'a.decider.ts',
      `import { b } from './b.js';`,
      /reaches .*b\.ts → node:fs/,
    ],
  ])('must not use %s', (_, name, text, message) => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', { [name]: text, 'b.ts': `import 'node:fs'; export const b = 1;` });
    expect(problemsOf(checkPurity, scratch)).toMatch(message);
  });

  it('may convert a given time to a date and import types of a neighbour with side effects', () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', {
      'a.decider.ts': `import type { B } from './b.js'; export const a = (n: number, _: B) => new Date(n);`,
      'b.ts': `import 'node:fs'; export type B = 1;`,
    });
    expect(problemsOf(checkPurity, scratch)).toBe('');
  });
});

describe('environment, console and execa', () => {
  it('are used only in the permitted files', () => {
    using scratch = new Scratch();
    const text = `import { execa } from 'execa'; console.log(process.env.X, execa);`;
    scratch.pack('apps/a', 'app', {
      'service.ts': text,
      'config.ts': `export const x = process.env['X'];`,
      'nerdctl-program.ts': `import 'execa';`,
    });
    const found = problemsOf(checkPlaces, scratch);
    expect(found.split('\n')).toHaveLength(3);
    expect(found).toMatch(/service\.ts:1: only nerdctl-program/);
    expect(found).toMatch(/process\.env/);
    expect(found).toMatch(/Logger/);
  });
});

describe('sizes', () => {
  it('reject a constructor with seven parameters, and too many long files and functions', () => {
    using scratch = new Scratch();
    const parameters = 'abcdefg'.split('').map((name) => `readonly ${name}: 1`);
    scratch.pack('apps/a', 'app', {
      'wide.ts': `export class A { constructor(${parameters.join(', ')}) {} }`,
      'long.ts': `export const f = () => {\n${'  g();\n'.repeat(260)}};`,
    });
    const found = problemsOf(checkSizes, scratch);
    expect(found).toMatch(/takes 7 parameters/);
    expect(found).toMatch(/files are within 262 lines/);
    expect(found).toMatch(/functions are within 262 lines/);
  });

  it('use the 95th percentile', () => {
    expect(percentile95(Array.from({ length: 100 }, (_, index) => 100 - index))).toBe(95);
    expect(percentile95([7])).toBe(7);
  });
});

describe('golden events', () => {
  const events = `export const codec = (type: string) => { switch (type) { case 'ThingHappened': case 'ThingHappened.v2': } };`;
  const golden = (type: string, data = '{}'): string => `{"type": "${type}", "data": ${data}}`;
  const folder = 'apps/a/src/thing/__events__';

  it('are required for every stored type', () => {
    using scratch = new Scratch();
    scratch
      .pack('apps/a', 'app', { 'thing/thing.events.ts': events })
      .write(`${folder}/1.json`, golden('ThingHappened'));
    expect(problemsOf(checkGoldenEvents, scratch)).toMatch(/no golden file of 'ThingHappened\.v2'/);
    scratch.write(`${folder}/2.json`, golden('ThingHappened.v2'));
    expect(problemsOf(checkGoldenEvents, scratch)).toBe('');
  });

  it('may be added but neither changed nor deleted, committed or not', () => {
    using scratch = new Scratch();
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: scratch.root,
        stdio: 'pipe',
      });
    scratch.pack('apps/a', 'app', { 'thing/thing.events.ts': events });
    scratch
      .write(`${folder}/1.json`, golden('ThingHappened'))
      .write(`${folder}/2.json`, golden('ThingHappened.v2'));
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'release');
    git('tag', '-am', '1', 'v1');
    expect(problemsOf(checkGoldenEvents, scratch)).toBe('');
    scratch.write(`${folder}/1.json`, golden('ThingHappened', '{"more": 1}'));
    expect(problemsOf(checkGoldenEvents, scratch)).toMatch(/1\.json was changed/);
    git('rm', '-q', '--cached', `${folder}/2.json`);
    git('commit', '-qam', 'rewrite history');
    expect(problemsOf(checkGoldenEvents, scratch)).toMatch(/1\.json was changed/);
  });

  it('report a note if there is no history to compare with', () => {
    using scratch = new Scratch();
    scratch.pack('apps/a', 'app', { 'index.ts': '' });
    const { notes } = checkGoldenEvents(readWorkspace(scratch.root));
    expect(notes).toEqual([expect.stringMatching(/no git history/)]);
  });
});

describe('compose files', () => {
  it('are rejected if they publish other ports, name missing dependencies, pin no version or contain secrets', () => {
    using scratch = new Scratch();
    scratch.write(
      'docker-compose.yml',
      [
        'services:',
        '  proxy: {image: "a:1", ports: ["8080:8080"], healthcheck: {test: x}, mem_limit: 1g, restart: always, networks: [n]}',
        '  db:',
        '    image: postgres:latest',
        '    ports: ["127.0.0.1:5432:5432"]',
        '    depends_on: {nobody: {condition: service_started}}',
        '    volumes: ["gone:/x", "./gone.conf:/y"]',
        '    environment: {POSTGRES_PASSWORD: hello, URL: "postgres://a:b@c/d"}',
        '    secrets: [key]',
      ].join('\n'),
    );
    const found = problemsOf(checkCompose, scratch);
    for (const message of [
      /proxy publishes 8080:8080 beyond the loopback/,
      /proxy is in network n/,
      /db has no healthcheck/,
      /db must pin/,
      /db publishes .*only proxy/,
      /depends on nobody/,
      /uses volume gone/,
      /mounts \.\/gone\.conf/,
      /POSTGRES_PASSWORD carries a secret/,
      /URL carries a password/,
      /uses secret key/,
    ]) {
      expect(found).toMatch(message);
    }
  });
});

describe('the run', () => {
  it('fails if a check read nothing', () => {
    using scratch = new Scratch();
    const run = fileURLToPath(new URL('./run.mjs', import.meta.url));
    const ended = spawnSync(process.execPath, [run, 'pure files', 'sizes'], {
      env: { ...process.env, BERTH_CHECK_ROOT: scratch.root },
      encoding: 'utf8',
    });
    expect(ended.stdout).toMatch(/read nothing/);
    expect(ended.stdout.trimEnd()).toMatch(/checks: 0 passed, 2 failed$/);
    expect(ended.status).toBe(1);
  });

  it('fails if no check matches the arguments', () => {
    const run = fileURLToPath(new URL('./run.mjs', import.meta.url));
    expect(spawnSync(process.execPath, [run, 'no such check']).status).toBe(1);
  });
});

describe('prefixes of secrets', () => {
  it.each([
    ['minted from a template', 'export const token = (mac: string): string => `zz_${mac}`;'],
    [
      'stored in a constant',
      "const PREFIX = 'zz_';\nexport const token = (mac: string): string => PREFIX + mac;",
    ],
  ])('that are missing from the list are reported: %s', (_what, source) => {
    using scratch = new Scratch();
    scratch.pack('libs/a', 'platform', { 'a.ts': source });
    expect(problemsOf(checkSecrets, scratch)).toMatch(/libs\/a\/src\/a\.ts:\d: 'zz_' looks like the prefix/);
  });

  it('do not include prefixes of ids', () => {
    using scratch = new Scratch();
    scratch.pack('libs/a', 'platform', { 'a.ts': 'export const id = (x: string): string => `agt_${x}`;' });
    expect(problemsOf(checkSecrets, scratch)).toBe('');
  });
});

describe('declared error codes', () => {
  const statuses = 'const STATUS_OF_KIND = { not_found: 404, conflict: 409 }; export { STATUS_OF_KIND };';
  const registry = (codes: string): string => `export const boatErrors = defineErrors({ ${codes} });`;
  const thrown = (kind: string, code: string): string =>
    `export const refuse = (): Error => new DomainError('${kind}', '${code}', 'No.');`;
  const problems = (errors: readonly string[], kind: string, code: string): string => {
    using scratch = new Scratch();
    scratch.pack('apps/gateway', 'app', { 'errors/error-status.ts': statuses });
    scratch.contract('boats', {
      'boats.errors.ts': registry(
        errors.map((code) => `${code}: { kind: 'not_found', when: 'x' }`).join(', '),
      ),
    });
    scratch.pack('apps/a', 'app', { 'a.ts': thrown(kind, code) });
    // The exempt codes are not thrown in this workspace.
    const all = problemsOf(checkErrorCodes, scratch).split('\n');
    return all.filter((problem) => !problem.includes('is exempt')).join('\n');
  };

  it('match the thrown codes', () => {
    expect(problems(['boat_not_found'], 'not_found', 'boat_not_found')).toBe('');
  });

  it.each([
    [
      'that nothing throws',
      ['boat_not_found', 'oar_not_found'],
      'not_found',
      /declares 404 'oar_not_found', which nothing/,
    ],
    ['with a kind that they are not thrown with', ['boat_not_found'], 'conflict', /is thrown as 409/],
    [
      'that are missing',
      ['oar_not_found'],
      'not_found',
      /throws 'boat_not_found', which no registry declares/,
    ],
  ])('%s are reported', (_what, errors, kind, problem) => {
    expect(problems(errors, kind, 'boat_not_found')).toMatch(problem);
  });
});
