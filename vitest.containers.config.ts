import { defineConfig } from 'vitest/config';

// Run by `npm run test:containers`, which starts a containerd and builds the images. `npm test` does not run these.
export default defineConfig({
  test: {
    name: 'container',
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
    include: ['apps/**/src/**/*.container-spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
