import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { BUNDLED } from './tools/bundle.mjs';
import { readTable } from './tools/suite-costs/table.mjs';

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

// They judge by the clock how fast parts fail and recover, and mainly wait for it. So they run after the others, many at a
// time: what they wait for is not late because of the work of others.
const TIMED_E2E = ['apps/standalone/src/e2e/faults.e2e-spec.ts'];
const TIMED_INT = [
  ...[
    ...['accounts/src/outages', 'agents/src/agent/creation-outages', 'agents/src/agent/lost-commands'],
    ...[
      'delivery/src/delivery/chat-outages',
      'exec/src/submission/start-is-certain',
      'exec/src/timers/settlement',
      'gateway/src/health/frozen-node',
    ],
  ].map((name) => `apps/${name}.int-spec.ts`),
  ...[
    ...[
      'persistence/src/advisory-lock',
      'persistence/src/crowded-server',
      'messaging/src/event-consumer-losses',
    ],
    ...['messaging/src/late-requests', 'messaging/src/outages', 'messaging/src/replaced-log'],
    ...['event-store/src/esdb-event-store', 'event-store/src/esdb-cluster', 'event-store/src/esdb-faults'],
    ...['messaging/src/lost-requests', 'persistence/src/database'],
    ...['service/src/recovery', 'service/src/connections'],
  ].map((name) => `libs/platform/${name}.int-spec.ts`),
];

for (const file of [...TIMED_E2E, ...TIMED_INT])
  if (!existsSync(join(import.meta.dirname, file)))
    throw new Error(`vitest.config.ts names ${file}, which does not exist.`);

const PROCESSORS = availableParallelism();

// These tests use a processor a third of their time, and wait for deadlines and restarts otherwise, so more of them than
// processors run at a time. The kinds have one queue, so that no processor idles while the last end-to-end tests wait.
const WAITING = { groupOrder: 2, maxWorkers: PROCESSORS + 3 };
const TIMED = { groupOrder: 3, maxWorkers: 4 * PROCESSORS };

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
    exclude: TIMED_E2E,
    ...WAITING,
    testTimeout: 180_000,
    isolate: true,
    maxConcurrency: 10,
  },
  { name: 'int-alone', include: OWN_PROCESS, ...WAITING, testTimeout: 90_000, isolate: true },
  {
    name: 'int',
    include: all('int-spec'),
    exclude: [...OWN_PROCESS, ...TIMED_INT],
    ...WAITING,
    testTimeout: 90_000,
    isolate: false,
  },
  { name: 'e2e-timed', include: TIMED_E2E, ...TIMED, testTimeout: 180_000, isolate: true },
  { name: 'int-timed', include: TIMED_INT, ...TIMED, testTimeout: 90_000, isolate: true },
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

/** Processor seconds by file, as measured; vitest knows durations only from earlier runs of the same checkout. */
const COSTS: Readonly<Record<string, number>> = readTable().files;

/**
 * Starts the files first that cost most, so that no worker waits for the last one. Files that share processes come last and in
 * one piece, because vitest ends a process when the next file in its queue does not share it.
 */
class CostliestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

/** Lower for a file that starts earlier. */
const rankOf = ({ moduleId, project }: TestSpecification): number => {
  const cost = COSTS[relative(import.meta.dirname, moduleId)] ?? 0;
  return project.config.isolate ? -cost : 1 / (1 + cost);
};

/** `npm test` runs the programs that it has just bundled. Without its option the tests run what `tsc -b` has built. */
const execArgv = process.execArgv.filter((argument) => argument === BUNDLED);

export default defineConfig({
  test: {
    // Starts nothing by itself; see CONTRIBUTING.md.
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
    sequence: { sequencer: CostliestFirst },
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
