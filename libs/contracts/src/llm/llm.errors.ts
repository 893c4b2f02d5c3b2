import { defineErrors } from '@berth/kernel';

/** Error codes that callers of the API get from `llm`. */
export const llmErrors = defineErrors({
  insufficient_credits: {
    kind: 'payment_required',
    when: 'an LLM call of the agent does not fit into the credits of the account',
  },
  spend_cap_reached: {
    kind: 'payment_required',
    when: 'an LLM call of the agent does not fit into the spend cap of its end user',
  },
});
