import { defineConfig } from 'vitest/config';

// What is left out of a folder's search: built files next to sources.
const exclude = ['**/node_modules/**', '**/dist/**'];

// One kind after the other: two whole stacks starting at once on a small machine run into each other's deadlines, so
// end-to-end tests take one file at a time.
const kinds = [
  { name: 'unit', pattern: 'spec', groupOrder: 1, maxWorkers: 2, testTimeout: 10_000 },
  { name: 'int', pattern: 'int-spec', groupOrder: 2, maxWorkers: 2, testTimeout: 30_000 },
  { name: 'e2e', pattern: 'e2e-spec', groupOrder: 3, maxWorkers: 1, testTimeout: 60_000 },
];

export default defineConfig({
  test: {
    // Starts nothing by itself; see CONTRIBUTING.md.
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
    projects: kinds.map(({ name, pattern, groupOrder, maxWorkers, testTimeout }) => ({
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
        testTimeout,
        hookTimeout: 90_000,
        sequence: { groupOrder },
      },
    })),
  },
});
