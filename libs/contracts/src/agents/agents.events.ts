import Type, { type Static } from 'typebox';
import { defineEvent } from '../schema/define-event.js';
import { AGENT_STATES } from './agent.view.js';

const AgentLifecycle = Type.Object({
  agentId: Type.String(),
  accountId: Type.String(),
  externalUserId: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'Always null; earlier releases require it.' }),
  ),
  endUserId: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'The end user who owns the agent. Set only in `created`; absent in events of earlier releases.',
    }),
  ),
  createdBy: Type.Optional(
    Type.Object(
      { kind: Type.Enum(['key', 'end_user', 'agent', 'webhook', 'viewer', 'system']), id: Type.String() },
      { description: 'Who created the agent. Set only in `created`; absent in events of earlier releases.' },
    ),
  ),
  state: Type.Enum([...AGENT_STATES]),
  epoch: Type.Integer({ description: '0 before the first start.' }),
  at: Type.String({ description: 'ISO 8601.' }),
});

/** Payload of every event about the life cycle of an agent. */
export type AgentLifecycleEvent = Readonly<Static<typeof AgentLifecycle>>;

/** The events of `agents`: `evt.agents.<name>.v1.<account>.<agent>`. */
export const agentsEvents = {
  created: defineEvent('agents', 'created', AgentLifecycle),
  started: defineEvent('agents', 'started', AgentLifecycle),
  fellAsleep: defineEvent('agents', 'fell-asleep', AgentLifecycle),
  stopped: defineEvent('agents', 'stopped', AgentLifecycle),
  failed: defineEvent('agents', 'failed', AgentLifecycle),
  deleted: defineEvent('agents', 'deleted', AgentLifecycle),
};
