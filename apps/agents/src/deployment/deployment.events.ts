import type { EventCodec, EventData, StoredEvent } from '@berth/event-store';
import type { DeploymentEvent } from './deployment.js';

const STORED_TYPES: ReadonlySet<string> = new Set<DeploymentEvent['type']>([
  'DeploymentRequested.v2',
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
    const current = upcast(stored);
    if (!isDeploymentEvent(current))
      throw new Error(`The deployment stream holds an event of unknown type ${stored.type}.`);
    return current;
  },
};

/** Before end users had keys, the names of all variables were in plaintext. */
const upcast = (stored: StoredEvent): StoredEvent => {
  if (stored.type !== 'DeploymentRequested') return stored;
  const { origin, ...data } = stored.data as EventData & { readonly origin: EventData };
  const { tokenEnv } = origin;
  const name = typeof tokenEnv === 'string' ? { endUserId: null, data: tokenEnv } : tokenEnv;
  return {
    type: 'DeploymentRequested.v2',
    data: { ...data, origin: { ...origin, ...(name === undefined ? {} : { tokenEnv: name }) } },
  };
};
