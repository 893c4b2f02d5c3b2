/** The columns of usage as CSV, in the order of the rows' members. */
export const USAGE_COLUMNS = [
  'agentId',
  'agentName',
  'externalId',
  'externalUserId',
  'hostingBasis',
  'activeSeconds',
  'computeMinutes',
  'vcpuSeconds',
  'memGbSeconds',
  'diskGbSeconds',
  'wakes',
  'chats',
  'executions',
  'llm.requests',
  'llm.inputTokens',
  'llm.outputTokens',
  'hostingCents',
  'aiCents',
  'totalCents',
] as const;

export const DAILY_USAGE_COLUMNS = ['date', ...USAGE_COLUMNS] as const;

export const COMPUTER_USAGE_COLUMNS = [
  'computerId',
  'name',
  'externalUserId',
  'hostingBasis',
  'activeSeconds',
  'vcpuSeconds',
  'memGbSeconds',
  'diskGbSeconds',
  'wakes',
  'actions',
  'screenshots',
  'executions',
  'hostingCents',
  'totalCents',
] as const;
