import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { eventsOf, at } from '../fixtures/memory-agents.fixture.js';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import type { AgentEvent } from './agent.js';

const agentId = 'agt_01';
const { created, starting, started } = eventsOf(agentId);
const running = [created(), starting(1), started(1)];
const failed = (epoch: number, code: string): AgentEvent => ({
  type: 'AgentFailed',
  data: { agentId, epoch, code, message: 'failed', at },
});

describe('an agent that is put to sleep', () => {
  it.each(['requested', 'suspended', 'compute_cap_reached'] as const)(
    'keeps the reason %s, however its processes end',
    (reason) => {
      const sleep: AgentCommand = { type: 'Stop', target: 'sleeping', reason, at };
      const decided = decideGiven(agentDecider, running, sleep).events;
      expect(decided).toMatchObject([{ type: 'AgentStopping.v2', data: { reason } }]);
      const sleepsFor = (history: readonly AgentEvent[], command: AgentCommand): void =>
        expect(decideGiven(agentDecider, history, command).events).toMatchObject([
          { type: 'AgentFellAsleep', data: { depth: 'cold', reason } },
        ]);
      sleepsFor([...running, ...decided], { type: 'ConfirmStopped', epoch: 2, at });
      const lost: AgentCommand = { type: 'SettleAbsence', epoch: 2, alwaysOn: true, at };
      sleepsFor([...running, ...decided, failed(2, 'host_lost')], lost);
      sleepsFor([...running, failed(1, 'crashed')], sleep);
    },
  );
});
