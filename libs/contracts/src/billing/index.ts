export {
  billingRequests,
  RECOUNTED_WITHIN_MS,
  HOSTING_BASES,
  type DailyUsageRow,
  type GetUsage,
  type HostingBasis,
  type LlmUse,
  type UsageDifference,
  type UsageFigures,
  type UsageReport,
  type UsageRow,
  type UsageTotals,
  type UsageVerification,
  type VerifyUsage,
} from './billing.requests.js';
export {
  MAX_USAGE_DAYS,
  MAX_USAGE_ROWS,
  usageQuery,
  usageRecountQuery,
  type UsageQuery,
  type UsageRecountQuery,
} from './billing.schemas.js';
