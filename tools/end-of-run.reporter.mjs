import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { JsonReporter } from 'vitest/node';
import { EXIT_DID_NOT_END } from './test-counts.mjs';

/** Tells the processes of this run from others; test processes and what they start inherit it. */
const RUN = 'BERTH_TEST_REPORTER';
/** Longer than vitest itself waits for the end of a test process. */
const ENDS_WITHIN_MS = 90_000;

/**
 * Vitest's reporter `json`, which also reports the number of errors outside of tests (`unhandledErrors`), and ends a run that
 * does not end: vitest waits without limit for the end of the output of a test process, which any process that a test leaves
 * running holds open.
 */
export default class EndOfRun extends JsonReporter {
  #endsWithinMs;

  constructor({ endsWithinMs = ENDS_WITHIN_MS, ...options } = {}) {
    super(options);
    this.#endsWithinMs = endsWithinMs;
    process.env[RUN] = String(process.pid);
  }

  async onTestRunEnd(files, errors) {
    await super.onTestRunEnd(files);
    addTo(this.options.outputFile ?? this.ctx.config.outputFile?.json, { unhandledErrors: errors.length });
    setTimeout(() => giveUp(this.#endsWithinMs / 1000), this.#endsWithinMs).unref();
  }
}

function addTo(report, members) {
  writeFileSync(report, JSON.stringify({ ...JSON.parse(readFileSync(report, 'utf8')), ...members }));
}

function giveUp(seconds) {
  console.error(
    `\nThe run did not end within ${seconds} s of its last test: a test of the file that vitest names above left a process ` +
      'running. Processes of the tests:',
  );
  for (const line of processesOfTests()) console.error(`  ${line}`);
  process.exit(EXIT_DID_NOT_END);
}

/** Without those that have an environment of their own. None is known where there is no /proc. */
function processesOfTests() {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(`${RUN}=${process.pid}`))
    .map((pid) => `${pid} ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`)
    .filter((line) => !line.includes('vitest-watchdog'));
}

function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
