import { ServerCredentials, type Server } from '@grpc/grpc-js';
import { createServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { isOwnPeer } from './peer-user.js';

/** Each service opens only a few connections, but any process on this machine can open one. */
const MAX_CONNECTIONS = 1_000;
/** A client's preface and settings (RFC 9113 §3.4), which it sends immediately. */
const FIRST_BYTES = 33;
const FIRST_BYTES_MS = 10_000;

/** Listens for the gRPC server and accepts connections of this user and root only. */
export interface Listener {
  readonly port: number;
  /** Stops accepting connections. */
  close(): void;
}

/** Rejects when the port is in use. */
export const listen = (server: Server, host: string, port: number): Promise<Listener> =>
  new Promise((resolve, reject) => {
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener: TcpServer = createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      if (!isOwnPeer(socket)) return void socket.destroy();
      const silent = setTimeout(() => {
        if (socket.bytesRead < FIRST_BYTES) socket.destroy();
      }, FIRST_BYTES_MS).unref();
      socket.once('close', () => clearTimeout(silent));
      injector.injectConnection(socket);
    });
    listener.maxConnections = MAX_CONNECTIONS;
    listener.once('error', reject);
    listener.listen(port, host, () => {
      const { port: bound } = listener.address() as AddressInfo;
      resolve({
        port: bound,
        close: () => {
          listener.close();
          injector.destroy();
        },
      });
    });
  });
