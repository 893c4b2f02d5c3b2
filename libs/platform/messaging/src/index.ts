export { BerthNatsServer, type BerthNatsServerOptions } from './berth-nats-server.js';
export {
  BrokerCheck,
  requireMaxPayload,
  takesOurMessages,
  unlessRefused,
  type BrokerNeeds,
} from './broker-check.js';
export type { DeadLetter } from './dead-letters.js';
export { EventConsumer } from './event-consumer.js';
export type { EventConsumerOptions } from './event-consumer-options.js';
export { EventRelay } from './event-relay.js';
export type { EventRelayOptions } from './event-relay-options.js';
export type { Retention } from './event-stream.js';
export { parseEventSubject, type EventSubject } from './event-subject.js';
export { HandleRequest, type HandleRequestOptions } from './handle-request.decorator.js';
export { InstallationClaim, InstanceTaken, SILENT_MS } from './installation-claim.js';
export { installationHolder, type InstallationHolder } from './installation-holder.js';
export { logIdentity } from './log-identity.js';
export type { NatsCredentials } from './nats-address.js';
export { brokerOf, NatsLink, type NatsLinkOptions } from './nats-link.js';
export { NatsNotices } from './nats-notices.js';
export { NestLogger } from './nest-logger.js';
export { ProcessHandlers } from './process-handlers.js';
export type { ReceivedEvent } from './received-event.js';
export { asLookUpFailure, neverReached } from './request-failures.js';
export { Requester, type RequestOptions } from './requester.js';
export { FIRST_SIGN_MS, type SilenceAllowance } from './pending-requests.js';
export { startService, type RunningService, type ServiceOptions } from './start-service.js';
export { WireNames } from './wire-names.js';
export { UnfitBroker } from './unfit-broker.js';
