export { BerthNatsServer, type BerthNatsServerOptions } from './berth-nats-server.js';
export { HandleRequest, type HandleRequestOptions } from './handle-request.decorator.js';
export { NatsLink, type NatsLinkOptions } from './nats-link.js';
export { neverReached } from './request-failures.js';
export { Requester, type RequestOptions } from './requester.js';
export { startService, type RunningService, type ServiceOptions } from './start-service.js';
