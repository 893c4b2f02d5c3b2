import { utf8Bytes } from '../schema/index.js';

/** The limits of an agent. Sizes are bytes of UTF-8. */
export const AGENT_LIMITS = {
  /** The program gets its instructions in one environment variable, which Linux limits to 128 KiB. */
  instructionsBytes: 65_536,
  variables: 256,
  /**
   * Names and values of all variables. Written as JSON, a control character takes six bytes: variables and instructions
   * of this size fit into one message of 8 MiB, and into the arguments and environment of one process.
   */
  variablesBytes: 1_048_576,
} as const;

/** The size of one variable, as `AGENT_LIMITS.variablesBytes` counts it. */
export const variableBytes = (key: string, value: string): number => utf8Bytes(key) + utf8Bytes(value);
