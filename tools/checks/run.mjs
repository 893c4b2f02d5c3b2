import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkBrokerAccess } from './broker-access.mjs';
import { checkClientTypes } from './client-types.mjs';
import { checkCompose } from './compose.check.mjs';
import { checkConflicts, checkLinks, checkPrivatePaths, checkReadmes } from './docs.check.mjs';
import { checkEnvironment } from './environment.mjs';
import { checkErrors } from './errors.mjs';
import { checkErrorCodes } from './error-codes.check.mjs';
import { checkFreshIds } from './fresh-ids.check.mjs';
import { checkGoldenEvents } from './golden-events.check.mjs';
import { checkGrafana } from './grafana.check.mjs';
import { checkGraph } from './graph.check.mjs';
import { checkDeclarations, checkImports } from './imports.check.mjs';
import { checkMetrics } from './metrics.mjs';
import { checkMoney } from './money.check.mjs';
import { checkMutations } from './mutations.check.mjs';
import { checkLock } from './lock.check.mjs';
import { checkOldNode } from './old-node.check.mjs';
import { checkOperatorSchema } from './operator-schema.mjs';
import { checkPlaces } from './places.check.mjs';
import { checkPythonTypes } from './python-types.mjs';
import { checkPurity } from './purity.check.mjs';
import { checkSecrets } from './secrets.check.mjs';
import { checkShownFiles } from './shown-files.mjs';
import { checkSizes } from './sizes.check.mjs';
import { checkSubjects } from './subjects.mjs';
import { runKnip, runNx, runOxfmt, runOxlint } from './tools.check.mjs';
import { readWorkspace } from './workspace.mjs';

const MAX_SHOWN = 40;
const root = process.env['BERTH_CHECK_ROOT'] ?? fileURLToPath(new URL('../..', import.meta.url));

const checkBuilt = ({ packages }) => ({
  problems: packages
    .filter(({ dir, files }) => files.length > 0 && !existsSync(join(root, dir, 'dist/.tsbuildinfo')))
    .map(({ dir }) => `${dir} is not built, so typed lint rules lack types across packages: run npx tsc -b`),
  read: packages.length,
});

const CHECKS = [
  ['sources parse', ({ unreadable, packages }) => ({ problems: unreadable, read: packages.length })],
  ['every package is built', checkBuilt],
  ['typed lint (oxlint)', runOxlint],
  ['formatting (oxfmt)', runOxfmt],
  ['imports between files', checkGraph],
  ['imports between packages', checkImports],
  ['imports are declared', checkDeclarations],
  ['pure files are pure', checkPurity],
  ['no fresh ids on the path of a command', checkFreshIds],
  ['environment, console and execa in the permitted files', checkPlaces],
  ['prefixes of secrets', checkSecrets],
  ['money is never a float', checkMoney],
  ['sizes', checkSizes],
  ['breaks of npm run mutate', checkMutations],
  ['declared error codes', checkErrorCodes],
  ['docs/errors.md', checkErrors],
  ['golden events', checkGoldenEvents],
  ['docs/subjects.md', checkSubjects],
  ['permissions on the broker', checkBrokerAccess],
  ['docs/environment.md', checkEnvironment],
  ['docs/metrics.md', checkMetrics],
  ['docs/berth.schema.json', checkOperatorSchema],
  ['types of the Python client', checkPythonTypes],
  ['types of the TypeScript client', checkClientTypes],
  ['boards of Grafana', checkGrafana],
  ['links and paths in the docs', checkLinks],
  ['files shown in the docs', checkShownFiles],
  ['app READMEs', checkReadmes],
  ['no paths of one machine', checkPrivatePaths],
  ['no unresolved conflicts', checkConflicts],
  ['compose files', checkCompose],
  ['package-lock.json is complete', checkLock],
  ['declared packages are used (knip)', runKnip],
  ['the tools of the set-up run on Node 18', checkOldNode],
  ['nx sees the projects', runNx],
];

/** Starts a check; checks that spawn a program run concurrently. */
const begin = async ([title, check], workspace) => {
  const begun = performance.now();
  const { problems, read, notes = [] } = await attempt(check, workspace);
  const all = read === 0 ? [...problems, 'it read nothing: a check that skips itself fails'] : problems;
  return { title, read, notes, problems: all, seconds: ((performance.now() - begun) / 1000).toFixed(1) };
};

const attempt = async (check, workspace) => {
  try {
    return await check(workspace);
  } catch (error) {
    return { problems: [String(error.stack ?? error)], read: 1 };
  }
};

const print = ({ title, read, notes, problems, seconds }) => {
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${title} (${read} read, ${seconds} s)`);
  for (const note of notes) console.log(`         ${note}`);
  for (const problem of problems.slice(0, MAX_SHOWN)) console.log(`       - ${problem}`);
  if (problems.length > MAX_SHOWN) console.log(`       … and ${problems.length - MAX_SHOWN} more`);
};

const only = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const wanted = CHECKS.filter(([title]) => only.length === 0 || only.some((word) => title.includes(word)));
// Not read if no check was chosen, because that takes seconds.
const workspace = wanted.length === 0 ? undefined : readWorkspace(root);
const outcomes = await Promise.all(wanted.map((check) => begin(check, workspace)));
outcomes.forEach(print);
const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
const passed = outcomes.length - failed;
console.log(`checks: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
