import { text } from './text.js';

/** `[A-Za-z_][A-Za-z0-9_]{0,127}`, and not reserved. */
export const variableName = text({
  max: 128,
  pattern: /^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]*$/,
  means: 'may contain letters, digits and _ only, and must not begin with a digit or BERTH_',
});

/**
 * In UTF-16 units. The value takes at most 98,304 bytes of UTF-8, so that it fits with its name into one environment
 * variable (128 KiB on Linux).
 */
export const VARIABLE_VALUE_CHARS = 32_768;

export const variableValue = (annotations: object = {}) =>
  text({ min: 0, max: VARIABLE_VALUE_CHARS, maxUnits: VARIABLE_VALUE_CHARS }, annotations);
