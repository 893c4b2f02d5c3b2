export { llmErrors } from './llm.errors.js';
export {
  LLM_CALL_STATUSES,
  LLM_DIALECTS,
  llmRequests,
  type Balance,
  type GetLlmRefusal,
  type GetLlmSpend,
  type GrantCredits,
  type ListLlmCalls,
  type LlmCallStatus,
  type LlmCallView,
  type LlmDialect,
  type LlmSpend,
} from './llm.requests.js';
export { grantCreditsBody, llmCallsQuery, type GrantCreditsBody, type LlmCallsQuery } from './llm.schemas.js';
