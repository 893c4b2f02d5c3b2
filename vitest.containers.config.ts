import { defineConfig } from 'vitest/config';

const BUILT = ['**/node_modules/**', '**/dist/**'];

// Tests that count what is on the whole host, or take all of its processors. They run after the others, one at a time.
const ALONE = ['many-creations', 'many-volumes'].map((name) => `apps/**/src/**/${name}.container-spec.ts`);

// What only real containers can prove, in a few minutes: CI runs these, `--project=core`.
const CORE = [
  'driver/nerdctl/cold-agents',
  'driver/nerdctl/containerd-outage',
  'driver/nerdctl/disk-image',
  'driver/nerdctl/installation-containers',
  'driver/nerdctl/isolation',
  'driver/nerdctl/network/network-policy',
  'driver/nerdctl/root-inside',
  'e2e/container-limits',
  'e2e/deploy-image',
  'e2e/removed-containers',
].map((name) => `apps/**/src/${name}.container-spec.ts`);

const BESIDE_OTHERS = { groupOrder: 1, maxWorkers: 2 };

const kinds = [
  { name: 'core', include: CORE, exclude: BUILT, ...BESIDE_OTHERS },
  {
    name: 'container',
    include: ['apps/**/src/**/*.container-spec.ts'],
    exclude: [...BUILT, ...CORE, ...ALONE],
    ...BESIDE_OTHERS,
  },
  { name: 'container-alone', include: ALONE, exclude: BUILT, groupOrder: 2, maxWorkers: 1 },
];

// Run by `npm run test:containers`, which starts a containerd and builds the images. `npm test` does not run these.
export default defineConfig({
  test: {
    globalSetup: ['libs/platform/testing/dist/shared-infra/global-setup.entry.js'],
    projects: kinds.map(({ groupOrder, ...kind }) => ({
      test: {
        ...kind,
        pool: 'forks',
        sequence: { groupOrder },
        testTimeout: 180_000,
        hookTimeout: 300_000,
      },
    })),
  },
});
