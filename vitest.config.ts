import { defineConfig } from 'vitest/config';

// What is left out of a folder's search: built files next to sources.
const exclude = ['**/node_modules/**', '**/dist/**'];

// One kind after the other. Most integration tests wait for deadlines and restarts, so more of them than processors run
// at a time; end-to-end tests, whose stacks keep every processor busy, take one file at a time.
const kinds = [
  { name: 'unit', pattern: 'spec', groupOrder: 1, maxWorkers: 2, testTimeout: 10_000, isolate: false },
  { name: 'int', pattern: 'int-spec', groupOrder: 2, maxWorkers: 4, testTimeout: 30_000, isolate: true },
  { name: 'e2e', pattern: 'e2e-spec', groupOrder: 3, maxWorkers: 1, testTimeout: 60_000, isolate: true },
];

export default defineConfig({
  test: {
    // Starts nothing by itself; see CONTRIBUTING.md.
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
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
