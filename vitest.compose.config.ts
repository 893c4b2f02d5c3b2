import { defineConfig } from 'vitest/config';

// Run by `npm run test:compose`, which starts a Docker engine. `npm test` does not run these.
export default defineConfig({
  test: {
    name: 'compose',
    include: ['apps/**/src/**/*.compose-spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 900_000,
  },
});
