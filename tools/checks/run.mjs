import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkCompose } from './compose.check.mjs';
import { checkLinks, checkPrivatePaths, checkReadmes } from './docs.check.mjs';
import { checkEnvironment } from './environment.mjs';
import { checkGoldenEvents } from './golden-events.check.mjs';
import { checkGraph } from './graph.check.mjs';
import { checkDeclarations, checkImports } from './imports.check.mjs';
import { checkMetrics } from './metrics.mjs';
import { checkPlaces } from './places.check.mjs';
import { checkPurity } from './purity.check.mjs';
import { checkSizes } from './sizes.check.mjs';
import { checkSubjects } from './subjects.mjs';
import { runNx, runOxlint, runPrettier } from './tools.check.mjs';
import { readWorkspace } from './workspace.mjs';

const MAX_SHOWN = 40;
const root = process.env['BERTH_CHECK_ROOT'] ?? fileURLToPath(new URL('../..', import.meta.url));

const checkBuilt = ({ packages }) => ({
  problems: packages
    .filter(({ dir, files }) => files.length > 0 && !existsSync(join(root, dir, 'dist/index.d.ts')))
    .map(({ dir }) => `${dir} is not built, so typed rules see no types across packages: run npx tsc -b`),
  read: packages.length,
});

const CHECKS = [
  ['sources parse', ({ unreadable, packages }) => ({ problems: unreadable, read: packages.length })],
  ['every package is built', checkBuilt],
  ['typed lint (oxlint)', runOxlint],
  ['formatting (prettier)', runPrettier],
  ['arrows between files', checkGraph],
  ['arrows between packages', checkImports],
  ['imports are declared', checkDeclarations],
  ['pure files are pure', checkPurity],
  ['environment, console and execa in their places', checkPlaces],
  ['sizes', checkSizes],
  ['golden events', checkGoldenEvents],
  ['docs/subjects.md', checkSubjects],
  ['docs/environment.md', checkEnvironment],
  ['docs/metrics.md', checkMetrics],
  ['links and paths in the docs', checkLinks],
  ['app READMEs', checkReadmes],
  ['no paths of one machine', checkPrivatePaths],
  ['compose files', checkCompose],
  ['nx sees the projects', runNx],
];

const run = async ([title, check], workspace) => {
  const begun = performance.now();
  const outcome = await Promise.resolve(check(workspace)).catch((error) => ({
    problems: [String(error.stack ?? error)],
    read: 1,
  }));
  const problems =
    outcome.read === 0
      ? [...outcome.problems, 'it read nothing: a check that skips itself does not count']
      : outcome.problems;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${title} (${outcome.read} read, ${seconds} s)`);
  for (const note of outcome.notes ?? []) console.log(`         ${note}`);
  for (const problem of problems.slice(0, MAX_SHOWN)) console.log(`       - ${problem}`);
  if (problems.length > MAX_SHOWN) console.log(`       … and ${problems.length - MAX_SHOWN} more`);
  return problems.length === 0;
};

const only = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const workspace = readWorkspace(root);
let passed = 0;
let failed = 0;
for (const check of CHECKS) {
  if (only.length > 0 && !only.some((word) => check[0].includes(word))) continue;
  if (await run(check, workspace)) passed++;
  else failed++;
}
console.log(`checks: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
