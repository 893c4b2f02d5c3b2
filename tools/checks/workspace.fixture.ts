import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** A small repository in the temporary folder, for files that break rules on purpose. */
export class Scratch implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'berth-checks-'));

  constructor() {
    this.write(
      'package.json',
      JSON.stringify({
        workspaces: ['libs/*', 'libs/platform/*', 'apps/*'],
        devDependencies: { vitest: '*' },
      }),
    );
  }

  write(path: string, text: string): this {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
    return this;
  }

  /** Writes the contract of one context, as a folder of the package of all contracts. */
  contract(context: string, files: Readonly<Record<string, string>>): this {
    this.write(
      'libs/contracts/package.json',
      JSON.stringify({
        name: '@berth/contracts',
        exports: { './*': './dist/*/index.js' },
        nx: { tags: ['type:contract'] },
      }),
    );
    for (const [path, text] of Object.entries(files))
      this.write(`libs/contracts/src/${context}/${path}`, text);
    return this;
  }

  /** Writes a package with its type tag, its declared dependencies and its sources. */
  pack(
    dir: string,
    type: string,
    files: Readonly<Record<string, string>>,
    dependencies: readonly string[] = [],
  ): this {
    const name = `@berth/${dir.split('/').slice(1).join('-')}`;
    const declared = Object.fromEntries(dependencies.map((one) => [one, '*']));
    this.write(
      `${dir}/package.json`,
      JSON.stringify({ name, dependencies: declared, nx: { tags: [`type:${type}`] } }),
    );
    for (const [path, text] of Object.entries(files)) this.write(`${dir}/src/${path}`, text);
    return this;
  }

  /** Adds the repository's tools and their settings. */
  withTools(): this {
    symlinkSync(join(REPOSITORY, 'node_modules'), join(this.root, 'node_modules'));
    symlinkSync(join(REPOSITORY, '.oxlintrc.json'), join(this.root, '.oxlintrc.json'));
    symlinkSync(join(REPOSITORY, '.oxfmtrc.json'), join(this.root, '.oxfmtrc.json'));
    return this.write(
      'libs/lab/tsconfig.json',
      JSON.stringify({
        extends: join(REPOSITORY, 'tsconfig.base.json'),
        compilerOptions: { outDir: 'dist' },
        include: ['src'],
      }),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
