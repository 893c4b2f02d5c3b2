import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import type { DailyUsageReport, LlmCall, UsageReport } from './types.js';

/** The range (whole days in UTC, by default the last 30), the filters and the page of usage. */
export type UsageQuery = QueryOf<'/api/v1/usage'>;
/** The range, the filter and the page of `usage.llmCalls`. */
export type ListLlmCalls = QueryOf<'/api/v1/llm-calls'>;

/** `berth.usage`. Amounts are in cents, with up to 6 decimals. */
export class Usage extends Resource {
  /** Usage and cost of each agent: `GET /api/v1/usage`. */
  async total(query?: UsageQuery, options?: CallOptions): Promise<UsageReport> {
    return this.read('/api/v1/usage', options, query);
  }

  /** Usage and cost of each agent and day: `GET /api/v1/usage/daily`. */
  async daily(query?: UsageQuery, options?: CallOptions): Promise<DailyUsageReport> {
    return this.read('/api/v1/usage/daily', options, query);
  }

  /** Lists the calls of language models: `GET /api/v1/llm-calls`. */
  llmCalls(query: ListLlmCalls = {}, options?: CallOptions): PagePromise<LlmCall> {
    return this.pages(() => '/api/v1/llm-calls', options, query);
  }
}
