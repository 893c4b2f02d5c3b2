export { BerthNatsServer, type BerthNatsServerOptions } from './berth-nats-server.js';
export type { DeadLetter } from './dead-letters.js';
export { EventConsumer } from './event-consumer.js';
export type { EventConsumerOptions } from './event-consumer-options.js';
export { EventRelay } from './event-relay.js';
export type { ContractEvent, EventRelayOptions } from './event-relay-options.js';
export type { Retention } from './event-stream.js';
export {
  deadLetterStreamName,
  eventStreamName,
  parseEventSubject,
  type EventSubject,
} from './event-subject.js';
export { HandleRequest, type HandleRequestOptions } from './handle-request.decorator.js';
export { NatsLink, type NatsLinkOptions } from './nats-link.js';
export type { ReceivedEvent } from './received-event.js';
export { neverReached } from './request-failures.js';
export { Requester, type RequestOptions } from './requester.js';
export { startService, type RunningService, type ServiceOptions } from './start-service.js';
