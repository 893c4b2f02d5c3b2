import { text } from './text.js';

/** `[A-Za-z_][A-Za-z0-9_]{0,127}`, and not reserved. */
export const variableName = text({
  max: 128,
  pattern: /^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]*$/,
  means: 'may hold letters, digits and _ only, begins with no digit, and not with BERTH_',
});

/**
 * UTF-16 units: at most 98,304 bytes, which one variable of a process holds together with its name (128 KiB on Linux).
 */
export const VARIABLE_VALUE_CHARS = 32_768;

export const variableValue = (annotations: object = {}) =>
  text({ min: 0, max: VARIABLE_VALUE_CHARS }, annotations);
