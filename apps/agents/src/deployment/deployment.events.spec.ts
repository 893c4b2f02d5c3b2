import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { expect, it } from 'vitest';
import { deploymentCodec } from './deployment.events.js';

const GOLDEN = join(import.meta.dirname, '__events__');

describeGoldenEvents(GOLDEN, deploymentCodec, {
  'DeploymentRequested.v2': true,
  DeploymentBuildStarted: true,
  DeploymentBuilt: true,
  DeploymentSucceeded: true,
  DeploymentFailed: true,
});

it('a deployment that was stored before end users had keys is read with the name of its variable in plaintext', () => {
  const stored = JSON.parse(readFileSync(join(GOLDEN, 'DeploymentRequested.json'), 'utf8')) as never;
  const tokenEnv = { endUserId: null, data: 'GITHUB_TOKEN' };
  expect(deploymentCodec.fromStored(stored)).toMatchObject({ data: { origin: { kind: 'git', tokenEnv } } });
});
