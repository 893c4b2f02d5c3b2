import type { AnalystView } from '@berth/persistence';

/** `cost` and `reserved` are millionths of a cent. */
const QUERY = `
  SELECT id, account_id, agent_id, end_user_id, model, dialect, status, code AS refusal,
    coalesce(input_tokens, 0) AS input_tokens,
    coalesce(cached_input_tokens, 0) AS cached_input_tokens,
    coalesce(output_tokens, 0) AS output_tokens,
    round(coalesce(cost, 0) / 1000000, 6) AS cost_cents,
    round(coalesce(reserved, 0) / 1000000, 6) AS reserved_cents,
    started_at, ended_at
  FROM llm_calls WHERE status IS NOT NULL`;

/** `analytics.llm_calls` */
export const LLM_CALLS_VIEW: AnalystView = {
  name: 'llm_calls',
  comment: 'One row for each LLM call of an agent, refused ones included.',
  query: QUERY,
  columns: {
    id: 'The id of the call (llm_…).',
    account_id: 'The account of the agent.',
    agent_id: 'The agent that called.',
    end_user_id: 'The end user of the agent; null if it has none.',
    model: 'The model that the agent named.',
    dialect: 'openai or anthropic.',
    status:
      'open, settled (to the usage that the upstream reported), estimated (to the reserve), failed or refused.',
    refusal: 'Why the call was refused; null for all others.',
    input_tokens: 'All input tokens, cached and cache-written ones included.',
    cached_input_tokens: 'Input tokens that the upstream read from its cache.',
    output_tokens: 'All output tokens, reasoning included.',
    cost_cents: 'What the call cost, in cents with six decimals.',
    reserved_cents: 'What was reserved before the call was sent, in cents with six decimals.',
    started_at: 'When the call arrived.',
    ended_at: 'When the call was settled, failed or was refused; null while it is open.',
  },
};
