import { AGENT_LIMITS } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';

/** How much an agent holds in variables. */
export interface EnvTotals {
  readonly variables: number;
  readonly bytes: number;
}

/** Why an agent that is beyond its limits cannot be started or reloaded. */
export const ENV_TOO_LARGE = {
  code: 'env_too_large',
  message: "The agent's variables and instructions are too large to start it with. Delete variables.",
} as const;

/**
 * Refuses a change that takes an agent beyond its limits: invalid `invalid_request`. Agents of earlier versions may be
 * beyond them already; what makes them smaller, or no larger, is let through.
 */
export const checkEnvGrowth = (before: EnvTotals, after: EnvTotals): void => {
  const { variables, variablesBytes } = AGENT_LIMITS;
  if (after.variables > variables && after.variables > before.variables) {
    throw beyond('key', `An agent has at most ${String(variables)} variables.`);
  }
  if (after.bytes > variablesBytes && after.bytes > before.bytes) {
    throw beyond(
      'value',
      `Names and values of an agent's variables together hold at most ${String(variablesBytes)} bytes of UTF-8.`,
    );
  }
};

const beyond = (path: string, message: string): DomainError =>
  new DomainError('invalid', 'invalid_request', message, { fields: [{ path, message }] });
