import { EventStreams, EventStore, SnapshotTable } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import { SNAPSHOT_VERSIONS } from '../agent/snapshot-versions.js';
import { envCodec, envDecider, type AgentEnv, type EnvCommand, type EnvEvent } from './agent-env.js';

/** Loads the streams `agentEnv-agt_…` and appends the events that their decider decides. */
@Injectable()
export class AgentEnvStreams extends EventStreams<AgentEnv, EnvCommand, EnvEvent> {
  constructor(store: EventStore, snapshots: SnapshotTable) {
    super({
      store,
      decider: envDecider,
      codec: envCodec,
      cacheSize: 500,
      snapshots: { table: snapshots, version: SNAPSHOT_VERSIONS.agentEnv },
    });
  }
}
