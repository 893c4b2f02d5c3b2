export { diskGb, IDLE_SECONDS_TEXT, idleSeconds, memMb, vcpus } from './agent-sizes.js';
export { VARIABLE_VALUE_CHARS, variableName, variableValue } from './environment.js';
export { EXTERNAL_USER_ID, isExternalUserId } from './external-user-id.js';
export { JSON_BODY_LIMIT } from './json-body.js';
export {
  isoTime,
  listWithUnique,
  number,
  oneOf,
  orNull,
  textsByName,
  whole,
  withDefault,
  withMessage,
} from './members.js';
export { cursor, pageMembers, pageQuery, type PageQuery, type PageRequest } from './page.js';
export { policy, type Policy } from './policy.js';
export type { NullWhenAbsent, Shape } from './shapes.js';
export { hasLength, isStorable, text, utf8Bytes, type TextBounds, type TextSchema } from './text.js';
export { RESOURCE_NAME } from './resource-name.js';
export { MAX_USAGE_DAYS, MAX_USAGE_ROWS, usageMembers } from './usage-range.js';
