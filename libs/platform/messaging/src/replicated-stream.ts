import {
  JetStreamApiCodes,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { isApiError } from './jetstream-errors.js';
import type { NatsLink } from './nats-link.js';

type Config = Partial<StreamConfig> & { readonly name: string };

const DEFAULT_IN_CLUSTER = 3;

/**
 * How many servers hold each message: NATS_REPLICAS if set, fallback 3 in a cluster and 1 elsewhere. A client cannot
 * know the size of a cluster; one that is too small rejects the stream.
 */
export const wantedReplicas = ({ replicas, connection }: NatsLink): number =>
  replicas ?? (connection.info?.cluster === undefined ? 1 : DEFAULT_IN_CLUSTER);

/**
 * Creates the stream, or applies the limits and replicas of `config` to an existing one. If the cluster cannot hold as
 * many replicas as configured, a new stream gets one and an existing one keeps its number; the next call tries again.
 */
export const ensureStream = async (
  manager: JetStreamManager,
  link: NatsLink,
  config: Config,
): Promise<StreamInfo> => {
  const found = await findStream(manager, config.name);
  const wanted = wantedReplicas(link);
  if (found === null) {
    try {
      return await unlessTooFewServers(manager.streams.add({ ...config, num_replicas: wanted }), () =>
        manager.streams.add({ ...config, num_replicas: 1 }),
      );
    } catch (error) {
      const isCreated = isApiError(error, ...TAKEN) && (await findStream(manager, config.name)) !== null;
      if (!isCreated) throw error;
      return ensureStream(manager, link, config);
    }
  }
  const { num_replicas: has, max_msgs } = found.config;
  const limits = { max_msgs: config.max_msgs ?? max_msgs };
  // An operator may have added replicas; only NATS_REPLICAS removes them.
  const replicas = link.replicas ?? Math.max(has, wanted);
  if (max_msgs === limits.max_msgs && (has === replicas || wasRefused(link, config.name))) return found;
  return unlessTooFewServers(
    manager.streams.update(config.name, { ...limits, num_replicas: replicas }),
    async () => {
      noteRefusal(link, config.name);
      return max_msgs === limits.max_msgs ? found : manager.streams.update(config.name, limits);
    },
  );
};

const AGAIN_AFTER_MS = 8_000;

/** When a cluster last rejected replicas; limits how often health checks and claims try again. */
const refusals = new WeakMap<NatsLink, Map<string, number>>();

const noteRefusal = (link: NatsLink, stream: string): void => {
  refusals.set(link, (refusals.get(link) ?? new Map<string, number>()).set(stream, Date.now()));
};

const wasRefused = (link: NatsLink, stream: string): boolean =>
  Date.now() - (refusals.get(link)?.get(stream) ?? 0) < AGAIN_AFTER_MS;

/** Returns null when the stream does not exist. */
export const findStream = async (manager: JetStreamManager, name: string): Promise<StreamInfo | null> => {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (isApiError(error, JetStreamApiCodes.StreamNotFound)) return null;
    throw error;
  }
};

/**
 * "stream name already in use", "subjects overlap with an existing stream": the server also returns these to one of two
 * processes that create the same stream at the same time.
 */
const TAKEN = [10_058, 10_065];

/** "no suitable peers", "insufficient resources", "replicas > 1 not supported in non-clustered mode". */
const TOO_FEW_SERVERS = [10_005, 10_023, 10_074];

const unlessTooFewServers = async (
  attempt: Promise<StreamInfo>,
  fallback: () => Promise<StreamInfo>,
): Promise<StreamInfo> => {
  try {
    return await attempt;
  } catch (error) {
    if (isApiError(error, ...TOO_FEW_SERVERS)) return fallback();
    throw error;
  }
};
