export { type Decider, fold } from './decider.js';
export { decideGiven, type Decided } from './decider-specification.js';
export {
  asFinal,
  asRepeated,
  asWithoutEffect,
  DomainError,
  effectOf,
  ERROR_KINDS,
  isDomainError,
  isEffect,
  isErrorKind,
  withEffect,
  type DomainErrorOptions,
  type Effect,
  type ErrorKind,
  type Json,
} from './domain-error.js';
export { Clock, systemClock, isoTime } from './clock.js';
export {
  contractEvent,
  subjectsOf,
  type ContractEvent,
  type EventDefinition,
  type PayloadOf,
} from './event.js';
export { detach } from './detach.js';
export { defineErrors, type ErrorDefinition } from './error-registry.js';
export { formatImageReference, parseImageReference, type ImageReference } from './image-reference.js';
export { deriveId, idOf, newId, isId, type IdPrefix } from './ids.js';
export {
  divideDown,
  divideHalfUp,
  divideUp,
  formatCents,
  MILLIONTHS_PER_CENT,
  parseCents,
  showCents,
  type Millionths,
} from './money.js';
export {
  defineRequest,
  stepOf,
  type RequestDefinition,
  type RequestTraits,
  type WhenLost,
  type Actor,
  type CommandEnvelope,
  type Page,
} from './request.js';
export { SECRET_PREFIXES } from './secret-prefixes.js';
export { isStorageFull, storageFull } from './storage-full.js';
export { dataPortName } from './data-port-name.js';
