import { readdirSync, readFileSync } from 'node:fs';
import { JsonReporter } from 'vitest/node';
import { EXIT_DID_NOT_END } from './test-counts.mjs';

/** Tells the processes of this run from others; test processes and what they start inherit it. */
const RUN = 'BERTH_TEST_RUN';
/** Longer than vitest itself waits for the end of a test process. */
const ENDS_WITHIN_MS = 90_000;

/**
 * Vitest's reporter `json`, which also ends a run that does not end: vitest waits without limit for the end of the output
 * of a test process, which any process that a test leaves running holds open.
 */
export default class EndOfRun extends JsonReporter {
  #endsWithinMs;

  constructor({ endsWithinMs = ENDS_WITHIN_MS, ...options } = {}) {
    super(options);
    this.#endsWithinMs = endsWithinMs;
    process.env[RUN] = String(process.pid);
  }

  async onTestRunEnd(files) {
    await super.onTestRunEnd(files);
    setTimeout(() => giveUp(this.#endsWithinMs / 1000), this.#endsWithinMs).unref();
  }
}

function giveUp(seconds) {
  console.error(
    `\nThe run did not end within ${seconds} s of its last test: a test of the file that vitest names above left a process ` +
      'running. Processes of the tests:',
  );
  for (const line of processesOfTests()) console.error(`  ${line}`);
  process.exit(EXIT_DID_NOT_END);
}

/** Without those that have an environment of their own. */
function processesOfTests() {
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
