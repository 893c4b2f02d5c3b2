/**
 * Prefixes, before a `_`, of the secrets that Berth mints. Log redaction recognises secrets by these prefixes, so a
 * secret with any other prefix would be logged. Minting code takes its prefix from here; a check enforces that.
 */
export const SECRET_PREFIXES = {
  apiKey: 'mk',
  endUserToken: 'eu',
  agentToken: 'at',
  webhookToken: 'wh',
} as const;
