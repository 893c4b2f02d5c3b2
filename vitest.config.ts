import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['libs/**/src/**/*.{spec,int-spec}.ts', 'apps/**/src/**/*.{spec,int-spec,e2e-spec}.ts', 'tools/**/*.spec.ts'],
    testTimeout: 30_000,
    hookTimeout: 90_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
