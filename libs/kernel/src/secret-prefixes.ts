/**
 * What the secrets that Berth mints begin with, before a `_` (contract §2). A secret without a prefix of this list would
 * pass into logs: they are cleared by form. Minting code takes its prefix from here, which a check enforces.
 */
export const SECRET_PREFIXES = {
  apiKey: 'mk',
  endUserToken: 'eu',
  agentToken: 'at',
  webhookToken: 'wh',
} as const;
