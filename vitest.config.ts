import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What is left out of a folder's search: built files next to sources.
const exclude = ['**/node_modules/**', '**/dist/**'];

// One kind after the other. Most integration and end-to-end tests wait for deadlines and restarts, so more of them than
// processors run at a time.
const kinds = [
  { name: 'unit', pattern: 'spec', groupOrder: 1, maxWorkers: 2, testTimeout: 10_000, isolate: false },
  { name: 'int', pattern: 'int-spec', groupOrder: 2, maxWorkers: 4, testTimeout: 30_000, isolate: true },
  { name: 'e2e', pattern: 'e2e-spec', groupOrder: 3, maxWorkers: 2, testTimeout: 60_000, isolate: true },
];

/** The files that take longest, longest first. Vitest knows durations only from earlier runs of the same checkout. */
const LONGEST = [
  'separate-processes.e2e-spec',
  'submission-faults.e2e-spec',
  'standalone.e2e-spec',
  'start-and-end.e2e-spec',
  '/faults.e2e-spec',
  'broker-cluster.e2e-spec',
  'raw-sockets.e2e-spec',
  'process-driver-contract.int-spec',
  'runtime.int-spec',
  'chat-outages.int-spec',
];

/** Starts the longest files first, so that no worker waits for the last one. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((name) => moduleId.includes(name));
  return rank < 0 ? LONGEST.length : rank;
};

export default defineConfig({
  test: {
    // Starts nothing by itself; see CONTRIBUTING.md.
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
    sequence: { sequencer: LongestFirst },
    projects: kinds.map(({ name, pattern, groupOrder, maxWorkers, testTimeout, isolate }) => ({
      test: {
        name,
        include: [
          `libs/**/src/**/*.${pattern}.ts`,
          `apps/**/src/**/*.${pattern}.ts`,
          `tools/**/*.${pattern}.ts`,
        ],
        exclude,
        pool: 'forks',
        maxWorkers,
        isolate,
        testTimeout,
        hookTimeout: 90_000,
        sequence: { groupOrder },
      },
    })),
  },
});
