export { endSocket, isEnding } from './end-socket.js';
export { GuardedServer, type ServerAddress, type ServerCertificate } from './guarded-server.js';
export { guardServer, type ConnectionBounds, type GuardedConnections } from './guard-server.js';
export { CONNECTIONS, shareOfDescriptors } from './descriptors.js';
export { FairShares } from './fair-shares.js';
export { openSocketPath, type SocketPath } from './socket-path.js';
export { servePrivately, type PrivateServer } from './private-server.js';
export { holdSocket, type HeldSocket } from './held-socket.js';
export { joinSockets } from './join-sockets.js';
export {
  grantContinue,
  onExchange,
  relayHttp,
  UnfitRequest,
  type HttpExchange,
  type OnwardRequest,
  type RelayRules,
} from './http-relay.js';
export { finalResponse, passBack, type ResponseRules } from './relayed-response.js';
export { expectationProblem, framingProblem, hasBody, type RequestProblem } from './http-framing.js';
export { eachHeader, endToEnd, type FieldList } from './header-lists.js';
export { requestIdOf } from './request-id.js';
export { discardBody, type UnwantedBounds } from './unwanted-body.js';
