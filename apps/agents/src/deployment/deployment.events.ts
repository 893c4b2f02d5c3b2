import type { EventCodec } from '@berth/event-store';
import type { DeploymentEvent } from './deployment.js';

const STORED_TYPES: ReadonlySet<string> = new Set<DeploymentEvent['type']>([
  'DeploymentRequested',
  'DeploymentBuildStarted',
  'DeploymentBuilt',
  'DeploymentSucceeded',
  'DeploymentFailed',
]);

const isDeploymentEvent = (stored: { readonly type: string }): stored is DeploymentEvent =>
  STORED_TYPES.has(stored.type);

/** Streams `deployment-dep_…`. */
export const deploymentCodec: EventCodec<DeploymentEvent> = {
  category: 'deployment',
  toStored: (event) => ({ type: event.type, data: { ...event.data } }),
  fromStored: (stored) => {
    if (!isDeploymentEvent(stored))
      throw new Error(`The deployment stream holds an event of unknown type ${stored.type}.`);
    return stored;
  },
};
