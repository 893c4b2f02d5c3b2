import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEMPLATES = join(import.meta.dirname, 'files');

/**
 * Generates a new service: `npx nx g ./tools/nx:service notes`. Writes the app and its contract, and adds the service
 * to the compose file, the id prefixes and the events that the audit leaves out. Then completes what derives from these:
 * the app's tsconfig.json, the declared packages, the installation, the generated files (the composition's modules,
 * the permissions on the broker, the pages) and the build.
 *
 * @param {import('nx/src/generators/tree').Tree} tree
 * @param {{ name: string, thing?: string, prefix?: string }} options
 */
export const generate = (tree, options) => {
  const names = namesOf(options);
  if (tree.exists(`apps/${names.name}`)) throw new Error(`The service ${names.name} already exists.`);
  for (const path of globSync('**/*.template', { cwd: TEMPLATES }))
    tree.write(targetOf(path, names), fill(readFileSync(join(TEMPLATES, path), 'utf8'), names));
  for (const [path, change] of Object.entries(changesOf(names)))
    tree.write(path, change(tree.read(path, 'utf8')));
  return async () => {
    const run = (command, ...args) => execFileSync(command, args, { cwd: tree.root, stdio: 'inherit' });
    const touched = tree.listChanges().map(({ path }) => path);
    run('npx', 'oxfmt', ...touched);
    run(process.execPath, 'tools/checks/write-pages.mjs');
    run('npm', 'install', '--no-audit', '--no-fund');
    run('npx', 'tsc', '-b');
  };
};

const namesOf = ({ name, thing = name.replace(/s$/, ''), prefix = thing.slice(0, 3) }) => {
  if (!/^[a-z]{3}$/.test(prefix)) throw new Error('An id prefix has three letters: give one with --prefix.');
  const key = (words) => words.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const capital = (words) => key(words)[0].toUpperCase() + key(words).slice(1);
  return {
    ...{ name, nameKey: key(name), Name: capital(name), NAME: name.replaceAll('-', '_').toUpperCase() },
    ...{ thing, thingKey: key(thing), Thing: capital(thing), thing_row: thing.replaceAll('-', '_') },
    prefix,
  };
};

const fill = (text, names) =>
  text.replaceAll(
    /__(name|thing|prefix|Name|Thing|NAME|nameKey|thingKey|thing_row)__/g,
    (_, key) => names[key],
  );

const targetOf = (path, names) => {
  const target = fill(path.replace(/\.template$/, ''), names);
  return target.startsWith('app/')
    ? `apps/${names.name}/${target.slice('app/'.length)}`
    : `libs/contracts/src/${names.name}/${target.slice('contract/'.length)}`;
};

/** The files that every new service changes. */
const changesOf = ({ name, prefix, Thing }) => ({
  'libs/kernel/src/ids.ts': (text) =>
    insertOnce(text, /(\n {2}\| '[a-z]{3}');( \/\/[^\n]*)?\n/, `$1$2\n  | '${prefix}'; // ${name}\n`),
  // What the audit says about an event is a decision, so this entry is where to begin.
  'apps/audit/src/audit-list/audited-events.spec.ts': (text) =>
    insertOnce(text, /(const NOT_AUDITED = \[\n)/, `$1  '${Thing}Created',\n`),
  'docker-compose.yml': (text) =>
    insertOnce(
      insertOnce(text, /(\n {2}files:\n)/, `\n${composeService(name)}$1`),
      /(\n {2}nats_url_files: )/,
      `\n  nats_url_${name}: { file: ./.data/compose/nats_url_${name} }$1`,
    ),
});

const composeService = (name) => `  ${name}:
    <<: *service
    image: berth/${name}:\${BERTH_VERSION:-0.1.0}
    command: [${name}]
    environment: *environment
    secrets: [{ source: nats_url_${name}, target: nats_url }, database_url]
    networks: [bus, store]
    depends_on: *parts
`;

const insertOnce = (text, pattern, replacement) => {
  if (!pattern.test(text)) throw new Error(`Found no ${pattern}: adapt tools/nx/service/generator.mjs.`);
  return text.replace(pattern, replacement);
};
