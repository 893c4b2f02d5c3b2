import { DomainError } from '@berth/kernel';

/** The request names an epoch of the agent that is not the current one; nothing was done. */
export const staleEpoch = (epoch: number, state: string): DomainError =>
  new DomainError('conflict', 'stale_epoch', 'The agent has moved on since this was decided.', {
    epoch,
    state,
  });

export const agentNotOnHost = (): DomainError =>
  new DomainError('not_found', 'agent_not_on_host', 'This host does not have the agent.');

export const agentNotFrozen = (): DomainError =>
  new DomainError('conflict', 'agent_not_frozen', 'The agent is not frozen on this host.');

/** `message` is shown to the agent's owner. */
export const agentStartFailed = (message: string, cause?: unknown): DomainError =>
  new DomainError('upstream', 'agent_start_failed', message, {}, { cause });

export const agentUnavailable = (message: string): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', message);
