import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { deploymentCodec } from './deployment.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), deploymentCodec, {
  DeploymentRequested: true,
  DeploymentBuildStarted: true,
  DeploymentBuilt: true,
  DeploymentSucceeded: true,
  DeploymentFailed: true,
});
