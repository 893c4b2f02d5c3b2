export { endSocket, isEnding } from './end-socket.js';
export { guardServer, type ConnectionBounds, type GuardedConnections } from './guard-server.js';
export { shareOfDescriptors } from './descriptors.js';
export { openSocketPath, type SocketPath } from './socket-path.js';
export { servePrivately, type PrivateServer } from './private-server.js';
export { holdSocket, type HeldSocket } from './held-socket.js';
export { joinSockets } from './join-sockets.js';
