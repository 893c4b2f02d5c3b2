import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { agentCodec } from './agent.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), agentCodec, {
  AgentCreated: true,
  AgentCreationAbandoned: true,
  AgentStarting: true,
  AgentStarted: true,
  AgentFellAsleep: true,
  AgentStopping: true,
  AgentStopped: true,
  AgentFailed: true,
  AgentDeletionRequested: true,
  AgentDeleted: true,
});
