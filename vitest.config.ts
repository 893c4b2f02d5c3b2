import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { BUNDLED } from './tools/bundle.mjs';

// What is left out of a folder's search: built files next to sources.
const BUILT = ['**/node_modules/**', '**/dist/**'];

const all = (pattern: string): string[] =>
  ['libs/**/src', 'apps/**/src', 'tools'].map((folder) => `${folder}/**/*.${pattern}.ts`);

// Integration tests that read or change state of their whole process: its descriptors, its memory, its environment, its
// tracer. All others share processes, which saves the import of all modules for each file (a fifth of the processor time
// of this kind): such a file restores what it replaces, and closes what it opens.
const OWN_PROCESS = ['output-pipes', 'files-race', 'peak-memory', 'telemetry', 'tracing'].map(
  (name) => `{apps,libs}/**/src/**/${name}.int-spec.ts`,
);

// Launches 120 instances of services in one process, which with other tests beside them miss every deadline.
const CROWD = 'libs/platform/service/src/connections.int-spec.ts';

const PROCESSORS = availableParallelism();

// These tests use a processor a third of their time, and wait for deadlines and restarts otherwise, so more of them than
// processors run at a time. The kinds have one queue, so that no processor idles while the last end-to-end tests wait.
const WAITING = { groupOrder: 2, maxWorkers: PROCESSORS + 3 };

// The timeouts only end tests that hang: a busy machine takes four times as long as a quiet one. A test whose subject is a
// deadline measures it.
const kinds = [
  {
    name: 'unit',
    include: all('spec'),
    groupOrder: 1,
    maxWorkers: PROCESSORS,
    testTimeout: 30_000,
    isolate: false,
  },
  // Its concurrent tests wait for idle times and schedules.
  {
    name: 'e2e',
    include: all('e2e-spec'),
    ...WAITING,
    testTimeout: 180_000,
    isolate: true,
    maxConcurrency: 10,
  },
  { name: 'int-alone', include: OWN_PROCESS, ...WAITING, testTimeout: 90_000, isolate: true },
  {
    name: 'int',
    include: all('int-spec'),
    exclude: [...OWN_PROCESS, CROWD],
    ...WAITING,
    testTimeout: 90_000,
    isolate: false,
  },
  { name: 'int-last', include: [CROWD], groupOrder: 3, maxWorkers: 1, testTimeout: 90_000, isolate: true },
  // Only `npm run test:long` runs these.
  {
    name: 'long',
    include: all('long-spec'),
    groupOrder: 4,
    maxWorkers: PROCESSORS,
    testTimeout: 300_000,
    isolate: true,
  },
];

/**
 * The files that take longest, in the order of their start; `npm test` writes how long each took. Vitest knows
 * durations only from earlier runs of the same checkout.
 */
const LONGEST = [
  'paired-agents.e2e-spec',
  'paired-accounts.e2e-spec',
  'several-hosts.e2e-spec',
  '/faults.e2e-spec',
  'start-and-end.e2e-spec',
  'submission-faults.e2e-spec',
  'deploy.e2e-spec',
  'installations.e2e-spec',
  'raw-sockets.e2e-spec',
  'start-refusals.e2e-spec',
  'process-driver-contract.int-spec',
  'advisory-lock.int-spec',
  'chat-outages.int-spec',
  'apps/runtime/src/runtime.int-spec',
  'esdb-event-store.int-spec',
  'start-is-certain.int-spec',
  'create-agent.int-spec',
  'end-executions.int-spec',
  'start-gateway.int-spec',
  'esdb-cluster.int-spec',
  'lost-commands.int-spec',
  'late-requests.int-spec',
  'settlement.int-spec',
  'unfit-broker.int-spec',
  'esdb-faults.int-spec',
  'messaging/src/outages.int-spec',
  'crowded-server.int-spec',
  'idempotency.int-spec',
  'replaced-log.int-spec',
  'commands-and-transfers.int-spec',
  'data-port.int-spec',
  'event-relay.int-spec',
  'accounts/src/outages.int-spec',
  'chat-faults.int-spec',
  'service/src/recovery.int-spec',
  'creation-faults.int-spec',
  'lost-requests.int-spec',
];

/**
 * Starts the longest files first, so that no worker waits for the last one. Files that share processes come last and in
 * one piece, because vitest ends a process when the next file in its queue does not share it.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

const rankOf = ({ moduleId, project }: TestSpecification): number => {
  const rank = LONGEST.findIndex((name) => moduleId.includes(name));
  return (rank < 0 ? LONGEST.length : rank) + (project.config.isolate ? 0 : LONGEST.length + 1);
};

/** `npm test` runs the programs that it has just bundled. Without its option the tests run what `tsc -b` has built. */
const execArgv = process.execArgv.filter((argument) => argument === BUNDLED);

export default defineConfig({
  test: {
    // Starts nothing by itself; see CONTRIBUTING.md.
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
    sequence: { sequencer: LongestFirst },
    projects: kinds.map(({ groupOrder, exclude = [], ...kind }) => ({
      test: {
        ...kind,
        exclude: [...BUILT, ...exclude],
        pool: 'forks' as const,
        execArgv,
        setupFiles: ['tools/suite-costs/file-costs.setup.mjs'],
        hookTimeout: 180_000,
        sequence: { groupOrder },
      },
    })),
  },
});
