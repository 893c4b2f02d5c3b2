/** Failures of a message that its program got. Only calls of models by the program are refused for money. */
const HANDED_OVER: ReadonlySet<string> = new Set([
  'agent_error',
  'agent_timeout',
  'insufficient_credits',
  'spend_cap_reached',
]);

/**
 * Whether a failure in the log says that the program got the message (contract-doors: "hand over"). Usage counts such a
 * message as a chat.
 */
export const saysHandedOver = (code: string): boolean => HANDED_OVER.has(code);
