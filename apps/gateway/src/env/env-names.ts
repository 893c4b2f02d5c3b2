import { AGENT_LIMITS } from '@berth/contracts/agents';
import type { TextRule } from '../validation/text-rule.js';

/** `[A-Za-z_][A-Za-z0-9_]{0,127}`, and not reserved. */
export const ENV_KEY: TextRule = {
  max: 128,
  pattern: /^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]*$/,
  means: 'may hold letters, digits and _ only, begins with no digit, and not with BERTH_',
};

export const ENV_VALUE: TextRule = { min: 0, max: AGENT_LIMITS.variableValueChars };
