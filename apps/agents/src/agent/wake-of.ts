import { isWake, type UseState } from '../use/agent-use.js';
import type { Wake } from './act.js';
import type { AgentCommandOf } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import type { Life, LiveAgent } from './agent.js';

const USE: Readonly<Record<Life['state'], UseState>> = {
  deploying: 'starting',
  starting: 'starting',
  running: 'running',
  stopping: 'resting',
  stopped: 'resting',
  sleeping: 'resting',
  failed: 'failed',
};

/** The wake that the command would begin; undefined if it would begin none or is refused. */
export const wakeOf = (command: AgentCommandOf<'Wake' | 'Start'>, agent: LiveAgent): Wake | undefined => {
  const starting = eventsOf(command, agent).find((event) => event.type === 'AgentStarting.v2');
  if (starting === undefined || !isWake(starting.data.cause, USE[agent.life.state])) return undefined;
  return { agentId: agent.agentId, epoch: starting.data.epoch };
};

const eventsOf = (command: AgentCommandOf<'Wake' | 'Start'>, agent: LiveAgent) => {
  try {
    return agentDecider.decide(command, agent);
  } catch {
    return [];
  }
};
