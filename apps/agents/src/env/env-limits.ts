import { AGENT_LIMITS } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';

/** Number and size of an agent's variables. */
export interface EnvTotals {
  readonly variables: number;
  readonly bytes: number;
}

/** The error of starting or reloading an agent that exceeds its limits. */
export const ENV_TOO_LARGE = {
  code: 'env_too_large',
  message: "The agent's variables and instructions are too large to start it with. Delete variables.",
} as const;

/**
 * Throws invalid `invalid_request` for a change after which an agent exceeds its limits. Agents of earlier versions may
 * exceed them already; a change that does not make those larger is accepted.
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
